#include "headway/core/regular_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "headway/core/resource_error.h"
#include "headway/core/under_sanitizer.h"

namespace headway {
namespace {

class RegularFile : public testing::Test {
 protected:
  RegularFile() {
    std::string name = (std::filesystem::temp_directory_path() / "headway-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~RegularFile() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  // What opening and reading it says; both must say the same.
  static std::string refusal(const std::string& path) {
    std::vector<std::string> said;
    for (const bool whole : {false, true}) {
      try {
        whole ? void(read_regular(path, 1 << 20)) : void(open_regular(path));
        said.emplace_back("no error");
      } catch (const SampleError& e) {
        said.push_back(e.problem());
      }
    }
    EXPECT_EQ(said[0], said[1]);
    return said[0];
  }
  std::string folder_;
};

TEST_F(RegularFile, IsReadWholeWhateverItsSize) {
  for (const size_t size : {0, 1, 4095, 4096, 4097, 100'000}) {
    const std::string bytes(size, 'a');
    EXPECT_EQ(read_regular(write("a", bytes), 100'000), bytes);
  }
  EXPECT_NE(read_regular("/proc/self/status", 1 << 20).find("VmRSS"), std::string::npos);
}

// Each of these would wait for ever, or never end, if it were opened and read blindly.
TEST_F(RegularFile, WhatIsNoneIsRefusedAtOnceByNameAndKind) {
  ASSERT_EQ(::mkfifo(path("pipe.jpg").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe.jpg")),
            path("pipe.jpg") + ": it is a named pipe, not an ordinary file");

  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, path("socket.hwidx").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(path("socket.hwidx")),
            path("socket.hwidx") + ": it is a socket, not an ordinary file");
  ::close(socket);

  std::filesystem::create_symlink("/dev/zero", path("zero.tfrecord"));
  EXPECT_EQ(refusal(path("zero.tfrecord")),
            path("zero.tfrecord") + ": it is a device, not an ordinary file");
  EXPECT_EQ(refusal(folder_), folder_ + ": cannot read: Is a directory");
}

TEST_F(RegularFile, ALinkToOneIsOneAndALinkToItselfIsNot) {
  std::filesystem::create_symlink(write("a", "content"), path("link"));
  EXPECT_EQ(read_regular(path("link"), 100), "content");
  std::filesystem::create_symlink(path("loop"), path("loop"));
  EXPECT_NE(refusal(path("loop")).find("cannot open"), std::string::npos);
}

TEST_F(RegularFile, OneAboveTheBoundIsNotReadAndTheBoundIsSaid) {
  std::filesystem::resize_file(write("sparse.hwidx", ""), uintmax_t{300} << 30);
  try {
    read_regular(path("sparse.hwidx"), 1000);
    FAIL();
  } catch (const SampleError& e) {
    EXPECT_EQ(
        e.reason(),
        "the file has 322122547200 bytes, but at most 1000 bytes are read into memory at once");
  }
}

TEST_F(RegularFile, WithoutDescriptorsTheLimitIsNamedAndNoFileBlamed) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer needs descriptors of its own";
  write("a", "x");
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  std::vector<Descriptor> open;
  rlimit few = before;
  few.rlim_cur = 40;
  ::setrlimit(RLIMIT_NOFILE, &few);
  std::string said;
  try {
    for (int i = 0; i < 50; ++i) open.push_back(open_regular(path("a")));
  } catch (const ResourceError& e) {
    said = e.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_NE(said.find("may have 40 files open at once (ulimit -n)"), std::string::npos) << said;
}

}  // namespace
}  // namespace headway
