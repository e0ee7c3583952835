#include "headway/core/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "headway/core/resource_error.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// "photos" of "photos/tran/a.jpg" when there is no photos/tran.
std::string deepest_existing(const std::string& path) {
  std::error_code ignored;
  fs::path folder = fs::path(path).parent_path();
  while (!folder.empty() && !fs::exists(folder, ignored) && folder != folder.root_path()) {
    folder = folder.parent_path();
  }
  return folder.empty() ? fs::current_path(ignored).string() : folder.string();
}

std::string remedy(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return fmt::format("check the path: {} exists, what follows does not",
                         deepest_existing(path));
    case EACCES:
    case EPERM:
      return "let this user read it (chmod +r, and +x on its folders), or run as its owner";
    case EISDIR: return fmt::format("name a file, or all files in it: {}/*", path);
    case ELOOP: return "the link leads back to itself; remove it or make it anew";
    default: return "";
  }
}

const char* file_kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return "something unknown";
}

void require_regular(const std::string& path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  if (S_ISDIR(status.st_mode)) throw_io_error(path, "cannot read", EISDIR);
  throw SampleError({path},
                    fmt::format("it is {}, not an ordinary file", file_kind_of(status.st_mode)),
                    "leave it out, or copy its content into an ordinary file");
}

}  // namespace

Descriptor open_regular(const std::string& path, struct stat* status) {
  struct stat own;
  if (!status) status = &own;
  int fd;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    const int error = errno;
    if (error == ENXIO && ::stat(path.c_str(), status) == 0) require_regular(path, *status);
    throw_io_error(path, "cannot open", error);
  }
  Descriptor file(fd);
  if (::fstat(fd, status) != 0) throw_io_error(path, "cannot look at", errno);
  require_regular(path, *status);
  return file;
}

std::string read_regular(const std::string& path, uint64_t most_bytes) {
  struct stat status;
  const Descriptor file = open_regular(path, &status);
  const auto expected = static_cast<uint64_t>(status.st_size);
  if (expected > most_bytes) throw_too_large(path, expected, most_bytes);
  std::string bytes(std::max<size_t>(expected + 1, 4096), '\0');  // one more, to see the end
  size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(2 * size);
    const ssize_t r = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) throw_io_error(path, "cannot read", errno);
    size += static_cast<size_t>(r);
    if (size > most_bytes) throw_too_large(path, size, most_bytes);
    if (r == 0) break;
  }
  bytes.resize(size);
  return bytes;
}

void throw_io_error(const std::string& path, std::string_view doing, int error) {
  if (!is_of_one_file(error)) throw resource_error(path, doing, error);
  throw SampleError({path}, fmt::format("{}: {}", doing, std::strerror(error)),
                    remedy(path, error));
}

void throw_too_large(const std::string& path, uint64_t size_bytes, uint64_t most_bytes) {
  throw SampleError(
      {path},
      fmt::format("the file has {} bytes, but at most {} bytes are read into memory at once",
                  size_bytes, most_bytes),
      "check that this is the right file (a sparse file, mostly empty, can look this large), or "
      "split it");
}

}  // namespace headway
