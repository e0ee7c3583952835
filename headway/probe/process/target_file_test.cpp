#include "headway/probe/process/target_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace headway {
namespace {

namespace fs = std::filesystem;
constexpr auto kShown = TargetFile::Owner::kUserOrEverybody;
constexpr uint64_t kMost = 1 << 20;
constexpr uid_t kNobody = 65534;

// A folder that all may enter; this process is the target, unless a test makes another.
class Files : public testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / fmt::format("headway_files_{}", getpid())) {
    fs::create_directory(folder_);
    ::chmod(folder_.c_str(), 0755);
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string file(const char* name, mode_t mode = 0644, uid_t owner = geteuid()) {
    const std::string path = folder_ / name;
    std::ofstream(path) << "x = 1\n";
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(::chown(path.c_str(), owner, static_cast<gid_t>(-1)), 0);
    return path;
  }
  static bool opens(const std::string& path, uint64_t most = kMost) {
    return TargetFile::open(getpid(), *file_user_of(getpid()), path, kShown, most).has_value();
  }
  // A process of another user's, while it is asked about a file.
  static bool opens_as_nobody(const std::string& path, TargetFile::Owner owner = kShown) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[1]);
      char byte;
      _exit(setresuid(kNobody, kNobody, kNobody) == 0 && read(ends[0], &byte, 1) >= 0 ? 0 : 1);
    }
    close(ends[0]);
    while (file_user_of(child)->uid != kNobody) ::usleep(1000);
    const bool opened =
        TargetFile::open(child, *file_user_of(child), path, owner, kMost).has_value();
    close(ends[1]);
    waitpid(child, nullptr, 0);
    return opened;
  }
  fs::path folder_;
};

TEST_F(Files, ARegularFileOfTheUserIsRead) {
  const auto opened =
      TargetFile::open(getpid(), *file_user_of(getpid()), file("own.py"), kShown, kMost);
  ASSERT_TRUE(opened);
  char text[100];
  EXPECT_EQ(std::string(text, opened->read(0, text, sizeof text)), "x = 1\n");
  EXPECT_EQ(opened->read(1000, text, sizeof text), 0u);
}

TEST_F(Files, ALinkToOneIsFollowed) {
  fs::create_symlink(file("own.py"), folder_ / "link.py");
  EXPECT_TRUE(opens(folder_ / "link.py"));
}

TEST_F(Files, NothingElseIsOpened) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0644), 0);
  for (const std::string& path :
       {(folder_ / "fifo").string(), folder_.string(), std::string("/dev/zero"),
        std::string("/dev/stdin"), std::string("/proc/self/fd/0"), std::string("/dev/tty"),
        std::string(""), std::string("a\0b", 3), std::string(10000, 'x')})
    EXPECT_FALSE(opens(path)) << path;
}

TEST_F(Files, AFileThatIsTooLargeIsLeft) {
  const std::string path = file("large.py");
  ASSERT_EQ(::truncate(path.c_str(), off_t{300} << 30), 0);  // a hole
  EXPECT_FALSE(opens(path));
}

TEST_F(Files, WhatTheTargetsUserMayNotReadIsNotOpenedByRootForIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  EXPECT_FALSE(opens_as_nobody(file("secret", 0600)));
  EXPECT_FALSE(opens_as_nobody(file("secret", 0600), TargetFile::Owner::kAny));
  EXPECT_TRUE(opens_as_nobody(file("library.py", 0644)));
  EXPECT_TRUE(opens_as_nobody(file("own.py", 0600, kNobody)));
  ::chmod(folder_.c_str(), 0700);  // the way there is closed
  EXPECT_FALSE(opens_as_nobody(file("own.py", 0600, kNobody)));
}

TEST_F(Files, AStrangersFileIsNotShownThoughAllMayReadIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_FALSE(opens_as_nobody(file("stranger.py", 0644, 1234)));
  EXPECT_TRUE(opens_as_nobody(file("stranger.py", 0644, 1234), TargetFile::Owner::kAny));
}

TEST_F(Files, RootStaysRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  opens_as_nobody(file("own.py", 0600, kNobody));
  EXPECT_TRUE(opens(file("secret", 0600)));
}

TEST_F(Files, AProcessThatBecameSomebodyElseIsNotTrusted) {
  FileUser before = *file_user_of(getpid());
  before.uid += 1;
  EXPECT_FALSE(TargetFile::open(getpid(), before, file("own.py"), kShown, kMost));
}

TEST_F(Files, AnAbsoluteLinkStaysInTheTargetsRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change its root";
  file("own.py");
  fs::create_symlink("/own.py", folder_ / "inside.py");
  fs::create_symlink("/etc/passwd", folder_ / "outside.py");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool there = chroot(folder_.c_str()) == 0 && chdir("/") == 0;
    _exit(write(ends[1], "r", 1) == 1 && there ? (pause(), 0) : 1);
  }
  char byte;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  const auto opened = [&](const char* path) {
    return TargetFile::open(child, *file_user_of(child), path, kShown, kMost).has_value();
  };
  EXPECT_TRUE(opened("/inside.py"));
  EXPECT_FALSE(opened("/outside.py"));
  EXPECT_FALSE(opened("../../../../etc/passwd"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]), close(ends[1]);
}

TEST_F(Files, WhatIsThereAndWhatIsNotCanBeTold) {
  EXPECT_TRUE(file_exists_for(getpid(), file("own.py")));
  EXPECT_FALSE(file_exists_for(getpid(), folder_ / "none.py"));
}

}  // namespace
}  // namespace headway
