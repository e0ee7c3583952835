#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway {

// Who a process is where files are opened.
struct FileUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};

  bool operator==(const FileUser&) const = default;
};
std::optional<FileUser> file_user_of(pid_t pid);

// A file that a watched process names, opened without trust in the name: as the process sees it
// (its root, its folder), as its user where we are root, without blocking, and only when it is a
// regular file. Links do not lead out of the process's root, and not through /proc to ourselves.
class TargetFile {
 public:
  enum class Owner {
    kAny,             // nothing of its content is shown
    kUserOrEverybody  // of another user's process: that user's own, or root's that all may read
  };
  // Nothing when it is no such file, is larger than `most_bytes`, or when the process is no longer
  // the user that it was.
  static std::optional<TargetFile> open(pid_t pid, const FileUser& user, const std::string& path,
                                        Owner owner, uint64_t most_bytes);
  ~TargetFile();
  TargetFile(TargetFile&& other) noexcept : fd_(other.fd_), stat_(other.stat_) { other.fd_ = -1; }
  TargetFile& operator=(TargetFile&&) = delete;

  uint64_t size() const { return stat_.bytes; }
  uint64_t inode() const { return stat_.inode; }
  // How many bytes came: the file may have become shorter.
  size_t read(uint64_t offset, void* into, size_t bytes) const;

 private:
  struct Stat {
    uint64_t bytes = 0, inode = 0;
  };
  TargetFile(int fd, Stat stat) : fd_(fd), stat_(stat) {}

  int fd_;
  Stat stat_;
};

// Is there such a file, of any kind, for this process? True when that cannot be told.
bool file_exists_for(pid_t pid, const std::string& path);

}  // namespace headway
