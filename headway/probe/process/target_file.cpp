#include "headway/probe/process/target_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "headway/core/descriptor.h"
#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

// While it exists, this thread opens files as another user: the kernel checks folders, groups and
// access lists. Only root can do that; all others open files with their own rights.
class AsUser {
 public:
  explicit AsUser(const FileUser& user) {
    if (::geteuid() != 0 || user.uid == 0) return;
    sound_ = false;
    const int count = ::getgroups(0, nullptr);
    groups_.resize(static_cast<size_t>(std::max(0, count)));
    if (count < 0 || ::getgroups(count, groups_.data()) != count) return;
    if (!set_groups(user.groups)) return;
    changed_ = true;
    ::setfsgid(user.gid);
    ::setfsuid(user.uid);  // last: it takes away the right to read everything
    sound_ = static_cast<uid_t>(::setfsuid(user.uid)) == user.uid;
  }
  ~AsUser() {
    if (!changed_) return;
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
    set_groups(groups_);
  }
  AsUser(const AsUser&) = delete;
  bool sound() const { return sound_; }

 private:
  // The system call changes only this thread; the C library's function would change all threads.
  static bool set_groups(const std::vector<gid_t>& groups) {
    return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
  }

  std::vector<gid_t> groups_;
  bool changed_ = false, sound_ = true;
};

bool is_our_root(int folder) {
  struct stat theirs {
  }, ours{};
  return ::fstat(folder, &theirs) == 0 && ::stat("/", &ours) == 0 && theirs.st_dev == ours.st_dev &&
         theirs.st_ino == ours.st_ino;
}

// Opens `path` below the folder, which no link in it may leave. Kernels before 5.6 cannot enforce
// that: there, only if the process's root is our own, where links lead nowhere else.
int open_below(int folder, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const auto fd = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  if (fd >= 0 || errno != ENOSYS || !is_our_root(folder)) return fd;
  return ::openat(folder, path.c_str(), flags | O_NOFOLLOW);
}

// "/a/b" in the process's root; "a/b" in its working folder, as the process would find it.
std::optional<std::string> path_in_root(pid_t pid, const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return std::nullopt;
  if (path[0] == '/') return path.substr(1);
  char folder[PATH_MAX];
  const ssize_t got = ::readlink(fmt::format("/proc/{}/cwd", pid).c_str(), folder, sizeof folder);
  if (got <= 0 || folder[0] != '/') return std::nullopt;
  return std::string(folder + 1, static_cast<size_t>(got) - 1) + "/" + path;
}

int open_for(pid_t pid, const FileUser& user, const std::string& path, int flags) {
  const Descriptor root(
      ::open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto inside = path_in_root(pid, path);
  if (root.get() < 0 || !inside) return -1;
  const AsUser as_user(user);
  return as_user.sound() ? open_below(root.get(), *inside, flags) : -1;
}

}  // namespace

std::optional<FileUser> file_user_of(pid_t pid) {
  const std::string status = file_text(fmt::format("/proc/{}/status", pid));
  FileUser out;
  uid_t real = 0, effective = 0, saved = 0;
  std::istringstream uids(status_field(status, "Uid")), gids(status_field(status, "Gid"));
  if (!(uids >> real >> effective >> saved >> out.uid)) return std::nullopt;
  if (!(gids >> real >> effective >> saved >> out.gid)) return std::nullopt;
  std::istringstream groups(status_field(status, "Groups"));
  for (gid_t group = 0; groups >> group;) out.groups.push_back(group);
  return out;
}

std::optional<TargetFile> TargetFile::open(pid_t pid, const FileUser& user, const std::string& path,
                                           Owner owner, uint64_t most_bytes) {
  if (file_user_of(pid) != user) return std::nullopt;
  Descriptor fd(open_for(pid, user, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat file {};
  if (fd.get() < 0 || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  const auto size = static_cast<uint64_t>(file.st_size);
  const bool may_be_shown = user.uid == ::geteuid() || file.st_uid == user.uid ||
                            (file.st_uid == 0 && (file.st_mode & S_IROTH));
  if (size > most_bytes || (owner == Owner::kUserOrEverybody && !may_be_shown)) return std::nullopt;
  return TargetFile(fd.release(), {size, file.st_ino});
}

TargetFile::~TargetFile() {
  if (fd_ >= 0) ::close(fd_);
}

size_t TargetFile::read(uint64_t offset, void* into, size_t bytes) const {
  size_t have = 0;
  while (have < bytes) {
    const ssize_t got = ::pread(fd_, static_cast<char*>(into) + have, bytes - have,
                                static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  return have;
}

bool file_exists_for(pid_t pid, const std::string& path) {
  const auto user = file_user_of(pid);
  if (!user) return true;
  const Descriptor fd(open_for(pid, *user, path, O_PATH | O_CLOEXEC));
  return fd.get() >= 0 || (errno != ENOENT && errno != ENOTDIR);
}

}  // namespace headway
