#include "headway/io/bytes/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "headway/core/clock.h"
#include "headway/core/file_counters.h"
#include "headway/io/bytes/mapping.h"

namespace headway {
namespace {

// Adds what a call took to the counters, whichever way it ends.
class Timed {
 public:
  Timed(std::atomic<int64_t>& calls, std::atomic<int64_t>& ns) : calls_(calls), ns_(ns) {}
  ~Timed() {
    ns_.fetch_add(now_ns() - begun_, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t>&calls_, &ns_;
  const int64_t begun_ = now_ns();
};

Descriptor open_timed(const std::string& path, struct stat* status = nullptr) {
  const Timed timed(file_counters().opens, file_counters().open_ns);
  return open_regular(path, status);
}

struct stat status_of(const Descriptor& file, const std::string& path) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0) throw_io_error(path, "cannot look at", errno);
  return status;
}

}  // namespace

void Buffer::reserve(size_t capacity) {
  if (capacity <= capacity_) return;
  capacity = std::max(capacity, capacity_ + capacity_ / 2);
  std::unique_ptr<char[]> bytes(new char[capacity]);
  if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
  bytes_ = std::move(bytes);
  capacity_ = capacity;
}

File::File(std::string path) : path_(std::move(path)), fd_(open_timed(path_)) {}

uint64_t File::size_bytes() const { return static_cast<uint64_t>(status_of(fd_, path_).st_size); }

int64_t File::mtime_ns() const {
  const struct timespec time = status_of(fd_, path_).st_mtim;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

size_t File::pread(uint64_t offset, char* into, size_t n) const {
  const Timed timed(file_counters().reads, file_counters().read_ns);
  size_t got = 0;
  while (got < n) {
    const ssize_t r = ::pread(fd_.get(), into + got, n - got, static_cast<off_t>(offset + got));
    if (r == 0) break;
    if (r > 0) {
      got += static_cast<size_t>(r);
    } else if (errno != EINTR) {
      throw_io_error(path_, fmt::format("cannot read at byte {}", offset + got), errno);
    }
  }
  file_counters().read_bytes.fetch_add(static_cast<int64_t>(got), std::memory_order_relaxed);
  return got;
}

Storage* File::map(uint64_t offset, size_t size_bytes) const {
  const Timed timed(file_counters().reads, file_counters().read_ns);
  Storage* const bytes = map_file(fd_.get(), offset, size_bytes);
  if (bytes) file_counters().read_bytes.fetch_add(int64_t(size_bytes), std::memory_order_relaxed);
  return bytes;
}

void File::pread_exact(uint64_t offset, char* into, size_t n) const {
  const size_t got = pread(offset, into, n);
  if (got == n) return;
  throw SampleError({path_, static_cast<int64_t>(offset)},
                    fmt::format("the file ends after {} of the {} bytes needed here", got, n),
                    "the file is incomplete or still being written: copy or make it again");
}

void File::advise(Access access) const {
  ::posix_fadvise(fd_.get(), 0, 0,
                  access == Access::kRandom ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
}

void read_all(const std::string& path, Buffer& buffer, uint64_t most_bytes) {
  struct stat status;
  const Descriptor file = open_timed(path, &status);
  const auto expected = static_cast<size_t>(status.st_size);
  if (expected > most_bytes) throw_too_large(path, expected, most_bytes);
  // One byte more than the file has: a read that comes back short has seen the end.
  constexpr size_t kLeast = 4096;
  size_t room = std::max(expected + 1, kLeast);
  size_t size = 0;
  const Timed timed(file_counters().reads, file_counters().read_ns);
  buffer.resize(0);
  for (;;) {
    buffer.reserve(room);
    const ssize_t r = ::read(file.get(), buffer.data() + size, room - size);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) throw_io_error(path, "cannot read", errno);
    size += static_cast<size_t>(r);
    buffer.resize(size);
    if (size > most_bytes) throw_too_large(path, size, most_bytes);
    if (r == 0 || size == expected) break;
    if (size == room) room *= 2;
  }
  file_counters().read_bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
}

}  // namespace headway
