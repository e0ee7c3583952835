#include "headway/core/resource_error.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "headway/core/limits.h"

namespace headway {
namespace {

std::optional<rlim_t> limit_on(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::string megabytes(uint64_t bytes) { return fmt::format("{} MB", bytes >> 20); }

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// "is full: 0 MB free of 1024 MB", or that it has room for bytes but not for files.
std::string fullness(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return "is full";
  if (disk.f_files > 0 && disk.f_favail == 0) {
    return fmt::format("holds as many files as it can ({})", disk.f_files);
  }
  return fmt::format("is full: {} free of {}", megabytes(disk.f_bavail * disk.f_frsize),
                     megabytes(disk.f_blocks * disk.f_frsize));
}

// What ran short, where that can be said better than by the system's own words alone.
std::string shortage(const std::string& folder, int error) {
  switch (error) {
    case EMFILE: {
      const auto limit = limit_on(RLIMIT_NOFILE);
      return limit
                 ? fmt::format("; this process may have {} files open at once (ulimit -n)", *limit)
                 : "";
    }
    case ENFILE: return "; the whole machine has as many files open as it may (fs.file-max)";
    case ENOSPC: return fmt::format("; the disk that holds {} {}", folder, fullness(folder));
    case EFBIG: {
      const auto limit = limit_on(RLIMIT_FSIZE);
      return limit ? fmt::format("; files may have {} (ulimit -f)", megabytes(*limit)) : "";
    }
    default: return "";
  }
}

std::string remedy_for_folder(const std::string& folder, int error) {
  switch (error) {
    case EACCES:
    case EPERM: return fmt::format("let this user write to {}, or write somewhere else", folder);
    case ENOENT:
    case ENOTDIR: return fmt::format("make the folder {} first, or write somewhere else", folder);
    case EMFILE:
    case ENFILE: return "raise the limit on open files, or have fewer of them open at once";
    case ENOSPC: return "free some space on that disk, or write to another one";
    case EDQUOT: return "free some space: this user's quota on that disk is used up";
    case EFBIG: return "raise the limit on the size of files, or write to another file system";
    case EROFS: return "write to a folder on a writable file system";
    case EIO:
    case ESTALE:
    case ETIMEDOUT:
      return fmt::format("the disk or server that holds {} failed; look at the kernel log", folder);
    default: return "";
  }
}

}  // namespace

ResourceError out_of_memory() {
  constexpr const char* kHint =
      "raise that limit, or need less: fewer threads, smaller batches, a smaller ram_budget_bytes";
  if (const auto limit = limit_on(RLIMIT_AS)) {
    return ResourceError(
        fmt::format("out of memory: this process may take {} of address space (ulimit -v)",
                    megabytes(*limit)),
        kHint);
  }
  if (const auto limit = limit_on(RLIMIT_DATA)) {
    return ResourceError(fmt::format("out of memory: this process may take {} of data (ulimit -d)",
                                     megabytes(*limit)),
                         kHint);
  }
  const auto left = static_cast<uint64_t>(available_memory("", "self"));
  return ResourceError(
      fmt::format("out of memory: the machine or this process's cgroup has {} left",
                  megabytes(left)),
      kHint);
}

ResourceError resource_error(const std::string& path, std::string_view doing, int error) {
  if (error == ENOMEM) return out_of_memory();
  const std::string folder = folder_of(path);
  return ResourceError(
      fmt::format("{} {}: {}{}", doing, path, std::strerror(error), shortage(folder, error)),
      remedy_for_folder(folder, error));
}

bool is_of_one_file(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:  // a socket, or a device that is not there
    case ENODEV:
    case EINVAL:  // an offset that no file can have
    case EOVERFLOW: return true;
    default: return false;
  }
}

}  // namespace headway
