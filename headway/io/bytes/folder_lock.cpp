#include "headway/io/bytes/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "headway/core/error.h"
#include "headway/core/log.h"
#include "headway/io/bytes/file.h"

namespace headway {
namespace {

// Not the target of a link, not a FIFO: a lock file is made by us or refused.
int open_lock(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (fd < 0) throw_io_error(path, "cannot write", errno);
  return fd;
}

// The last owner removes the file: a lock on a file that is gone keeps nobody out.
bool is_still_at(int fd, const std::string& path) {
  struct stat held, there;
  return ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

std::string holder_of(int fd) {
  std::array<char, 256> text;
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  return got > 0 ? std::string(text.data(), static_cast<size_t>(got)) : "another process";
}

std::string this_process(const std::string& owner) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}, process {} on {}", owner, ::getpid(), host.data());
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& owner)
    : path_(folder + "/" + kFile) {
  for (;;) {
    fd_ = open_lock(path_);
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      const std::string holder = reason == EWOULDBLOCK ? holder_of(fd_) : "";
      ::close(std::exchange(fd_, -1));
      if (reason == EWOULDBLOCK)
        throw Error(fmt::format("the folder {} is in use by {}", folder, holder),
                    "wait for it to end, or give another folder");
      log(LogLevel::kWarning,
          fmt::format("{} cannot be locked ({}): do not let two runs write to it", folder,
                      std::strerror(reason)));
      return;
    }
    if (is_still_at(fd_, path_)) break;
    ::close(fd_);
  }
  const std::string text = this_process(owner);
  // On a full disk the lock holds all the same, only the owner's name is missing.
  if (::ftruncate(fd_, 0) == 0) (void)!::pwrite(fd_, text.data(), text.size(), 0);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

FolderLock::~FolderLock() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());  // before it is released: nobody else's is removed
  ::close(fd_);
}

}  // namespace headway
