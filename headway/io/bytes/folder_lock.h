#pragma once

#include <string>

namespace headway {

// Keeps a folder to one writer at a time, among all processes and inside one. The lock ends with
// the object or with the process, however that dies. Who holds it stands in the lock file.
//
//   const FolderLock lock("run/checkpoints", "headway train");
//
// Where the file system has no locks (some network mounts) a warning is logged and nothing is
// locked.
class FolderLock {
 public:
  static constexpr const char* kFile = ".headway-lock";

  // `owner` is how the next one who comes will be told of this one. Error when somebody else holds
  // the folder: names them, their process and machine.
  FolderLock(const std::string& folder, const std::string& owner);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();  // removes the lock file

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace headway
