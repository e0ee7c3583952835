#include "headway/io/bytes/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "headway/core/resource_error.h"

namespace headway {
namespace {

int flags_of(OutputFile::Mode mode) {
  switch (mode) {
    case OutputFile::Mode::kTruncate: return O_TRUNC;
    case OutputFile::Mode::kAppend: return O_APPEND;
    case OutputFile::Mode::kCreateNew: return O_EXCL;
  }
  return 0;
}

// Unlike any other in this folder: by process, and by count within it. Never longer than a name may
// be: the end of a long one is left out.
std::string temporary_beside(const std::string& path) {
  static std::atomic<uint64_t> made{0};
  const std::string ending = fmt::format(".{}-{}.tmp", ::getpid(), made.fetch_add(1));
  const std::filesystem::path place(path);
  const std::string name = place.filename().string().substr(0, NAME_MAX - ending.size());
  return (place.parent_path() / (name + ending)).string();
}

// Makes the rename itself durable. File systems that cannot are left as they are.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

OutputFile::OutputFile(std::string path, Mode mode) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags_of(mode), 0666);
  if (fd_ < 0) throw resource_error(path_, "cannot write", errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t r = ::write(fd_, bytes.data(), bytes.size());
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) throw resource_error(path_, "cannot write", errno);
    bytes.remove_prefix(static_cast<size_t>(r));
  }
}

void OutputFile::sync() {
  if (::fsync(fd_) != 0) throw resource_error(path_, "cannot write to the device", errno);
}

void OutputFile::close() {
  if (fd_ < 0) return;
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 && errno != EINTR) throw resource_error(path_, "cannot close", errno);
}

uint64_t OutputFile::size_bytes() const {
  struct stat status;
  if (::fstat(fd_, &status) != 0) throw resource_error(path_, "cannot look at", errno);
  return static_cast<uint64_t>(status.st_size);
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), file_(temporary_beside(path_), OutputFile::Mode::kCreateNew) {}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(file_.path().c_str());
}

void AtomicFile::commit() {
  file_.sync();
  file_.close();
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) {
    throw resource_error(path_, "cannot put in place", errno);
  }
  committed_ = true;
  sync_folder_of(path_);
}

}  // namespace headway
