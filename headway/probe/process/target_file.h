#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway {

// The identity with which a process opens files.
struct FileUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};

  bool operator==(const FileUser&) const = default;
};
std::optional<FileUser> file_user_of(pid_t pid);

// A file that a watched process names, opened without trusting the name: as the process sees it
// (its root, its folder), as its user if we are root, without blocking, and only if it is a regular
// file. Links cannot lead out of the process's root, nor through /proc to our own files.
class TargetFile {
 public:
  enum class Owner {
    kAny,             // its content is never shown
    kUserOrEverybody  // in another user's process: files of that user, or root's that all may read
  };
  // Nothing if it is not such a file, is larger than `most_bytes`, or the process has changed its
  // user in the meantime.
  static std::optional<TargetFile> open(pid_t pid, const FileUser& user, const std::string& path,
                                        Owner owner, uint64_t most_bytes);
  ~TargetFile();
  TargetFile(TargetFile&& other) noexcept : fd_(other.fd_), stat_(other.stat_) { other.fd_ = -1; }
  TargetFile& operator=(TargetFile&&) = delete;

  uint64_t size() const { return stat_.bytes; }
  uint64_t inode() const { return stat_.inode; }
  // Returns the number of bytes read: the file may have become shorter.
  size_t read(uint64_t offset, void* into, size_t bytes) const;

 private:
  struct Stat {
    uint64_t bytes = 0, inode = 0;
  };
  TargetFile(int fd, Stat stat) : fd_(fd), stat_(stat) {}

  int fd_;
  Stat stat_;
};

// Does this file, of any kind, exist for this process? True if that cannot be found out.
bool file_exists_for(pid_t pid, const std::string& path);

}  // namespace headway
