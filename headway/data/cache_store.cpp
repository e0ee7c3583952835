#include "headway/data/cache_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "headway/core/checked_size.h"
#include "headway/data/element_codec.h"
#include "headway/io/bytes/crc32c.h"

namespace headway {
namespace {

class MemoryCache : public CacheStore {
 public:
  std::optional<Element> get(int64_t i) override {
    MutexLock lock(mu_);
    const auto it = elements_.find(i);
    if (it == elements_.end()) return std::nullopt;
    return it->second;
  }
  bool put(int64_t i, const Element& element) override {
    Element kept = element;
    kept.compact();
    const int64_t size_bytes = kept.size_bytes();
    MutexLock lock(mu_);
    if (!elements_.emplace(i, std::move(kept)).second) return false;
    bytes_ += size_bytes;
    return true;
  }
  std::optional<int64_t> complete() override {
    MutexLock lock(mu_);
    return complete_;
  }
  void set_complete(int64_t count) override {
    MutexLock lock(mu_);
    complete_ = count;
  }
  int64_t memory_bytes() override {
    MutexLock lock(mu_);
    return bytes_;
  }

 private:
  Mutex mu_;
  std::unordered_map<int64_t, Element> elements_ HEADWAY_GUARDED_BY(mu_);
  std::optional<int64_t> complete_ HEADWAY_GUARDED_BY(mu_);
  int64_t bytes_ HEADWAY_GUARDED_BY(mu_) = 0;
};

constexpr std::string_view kMagic = "HWCACHE";
constexpr char kVersion = '1';  // follows the magic
constexpr int64_t kCompleteMark = -1;

// What a cache of that description begins with.
std::string header_of(const std::string& description) {
  const uint64_t length = description.size();
  std::string header = std::string(kMagic) + kVersion;
  header.append(reinterpret_cast<const char*>(&length), sizeof length);
  return header + description;
}

struct EntryHeader {
  int64_t number;
  uint64_t length;
  uint32_t crc;         // of the payload
  uint32_t header_crc;  // of the three fields above

  uint32_t own_crc() const {
    return crc32c({reinterpret_cast<const char*>(this), offsetof(EntryHeader, header_crc)});
  }
};

constexpr uint64_t kMostShown = 1 << 20;  // of another pipeline's description

class FileCache : public CacheStore {
 public:
  FileCache(const std::string& path, const std::string& description) : path_(path) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
    if (fd_ < 0)
      fail("open", "give a file in a folder that exists and that this user may write to");
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      throw Error(fmt::format("cache: the cache file {} is in use by another process", path),
                  "wait for it to end, or give each process a cache file of its own");
    }
    try {
      MutexLock lock(mu_);
      load(description);
    } catch (...) {
      ::close(fd_);
      throw;
    }
  }
  ~FileCache() override { ::close(fd_); }

  std::optional<Element> get(int64_t i) override {
    Place place;
    {
      MutexLock lock(mu_);
      const auto it = places_.find(i);
      if (it == places_.end()) return std::nullopt;
      place = it->second;
    }
    std::string payload(place.length, '\0');
    read(place.offset, payload.data(), payload.size());
    if (crc32c(payload) != place.crc) {
      throw SampleError({path_, static_cast<int64_t>(place.offset)},
                        "an element in the cache file is damaged (its checksum is wrong)",
                        "delete the cache file; Headway makes it again");
    }
    return decode_element(payload);
  }

  bool put(int64_t i, const Element& element) override {
    std::string payload;
    encode_element(element, payload);
    MutexLock lock(mu_);
    if (places_.count(i)) return false;
    append(i, payload);
    return true;
  }

  std::optional<int64_t> complete() override {
    MutexLock lock(mu_);
    return complete_;
  }
  void set_complete(int64_t count) override {
    MutexLock lock(mu_);
    if (complete_) return;
    append(kCompleteMark, {reinterpret_cast<const char*>(&count), sizeof count});
    complete_ = count;
  }
  int64_t memory_bytes() override {
    MutexLock lock(mu_);
    return static_cast<int64_t>(places_.size() * (sizeof(int64_t) + sizeof(Place) + 16));
  }

 private:
  struct Place {
    uint64_t offset = 0, length = 0;
    uint32_t crc = 0;
  };

  [[noreturn]] void fail(const char* doing, const std::string& hint) const {
    throw Error(fmt::format("cache: cannot {} {}: {}", doing, path_, std::strerror(errno)), hint);
  }

  size_t read_some(uint64_t offset, char* into, size_t n) const {
    size_t done = 0;
    while (done < n) {
      const ssize_t got = ::pread(fd_, into + done, n - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("read", "check the disk");
      if (got == 0) break;
      done += got;
    }
    return done;
  }
  void read(uint64_t offset, char* into, size_t n) const {
    if (read_some(offset, into, n) != n) {
      throw SampleError({path_, static_cast<int64_t>(offset)},
                        "the cache file became shorter while it was in use",
                        "delete the cache file, which Headway makes again, and start again");
    }
  }
  void write(std::string_view bytes) HEADWAY_REQUIRES(mu_) {
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n =
          ::pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(end_ + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int error = errno;
        if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0) errno = error;
        errno = error;
        fail("write",
             "free some disk space, or cache elsewhere; what is cached so far stays valid");
      }
      done += n;
    }
    end_ += bytes.size();
  }

  void append(int64_t number, std::string_view payload) HEADWAY_REQUIRES(mu_) {
    EntryHeader header{number, payload.size(), crc32c(payload), 0};
    header.header_crc = header.own_crc();
    std::string entry(reinterpret_cast<const char*>(&header), sizeof header);
    entry.append(payload);
    const uint64_t offset = end_ + sizeof header;
    write(entry);
    if (number >= 0) places_[number] = {offset, payload.size(), header.crc};
  }

  void load(const std::string& description) HEADWAY_REQUIRES(mu_) {
    const uint64_t size = file_bytes();
    const std::string header = header_of(description);
    std::string found(std::min<uint64_t>(size, header.size()), '\0');
    read(0, found.data(), found.size());
    check_ours(found);
    if (size < header.size() && header.starts_with(found)) {  // new, or killed at birth
      write(header);
      return;
    }
    check_description(size, header, description);
    end_ = header.size();
    scan(size);
  }

  uint64_t file_bytes() const {
    struct stat status;
    if (::fstat(fd_, &status) != 0) fail("look at", "check the disk");
    if (S_ISREG(status.st_mode)) return static_cast<uint64_t>(status.st_size);
    throw Error(
        fmt::format("cache: {} is a folder, a device or a pipe, not an ordinary file", path_),
        "give an ordinary file, or a name that does not exist yet, in .cache(FILE)");
  }

  // What does not begin as a cache of this version is somebody else's and stays as it is.
  void check_ours(std::string_view start) const {
    if (start.empty()) return;
    if (!start.starts_with(kMagic) || start.size() == kMagic.size()) {
      throw Error(
          fmt::format("cache: {} is not a cache file of Headway, so it is not overwritten", path_),
          "give another file in .cache(FILE), or delete this one if it is not needed");
    }
    if (const char version = start[kMagic.size()]; version != kVersion) {
      throw Error(
          fmt::format(
              "cache: {} is a cache file of version {:?}, but this headway reads version {:?}",
              path_, version, kVersion),
          "delete the file (Headway makes it again), or give another file in .cache(FILE)");
    }
  }

  void check_description(uint64_t size, const std::string& header,
                         const std::string& description) const {
    const size_t front = header.size() - description.size();
    uint64_t length = 0;
    std::string stored;
    if (size >= front) {
      read(front - sizeof length, reinterpret_cast<char*>(&length), sizeof length);
      stored.resize(std::min({length, size - front, kMostShown}));
      read(front, stored.data(), stored.size());
    }
    if (length == description.size() && stored == description) return;
    throw Error(
        fmt::format(
            "cache: {} was made by another dataset\n  in the file:   {}\n  this dataset:  {}",
            path_, stored, description),
        "delete the file (Headway makes it again), or give another file in .cache(FILE)");
  }

  // The valid entries; what follows them is cut off.
  void scan(uint64_t size) HEADWAY_REQUIRES(mu_) {
    EntryHeader header;
    while (!complete_ &&
           read_some(end_, reinterpret_cast<char*>(&header), sizeof header) == sizeof header) {
      const uint64_t payload = end_ + sizeof header;
      if (header.header_crc != header.own_crc() || !lies_within(payload, header.length, size)) {
        break;
      }
      if (header.number == kCompleteMark) {
        if (!(complete_ = count_in(header, payload))) break;
      } else {
        if (header.number < 0) break;
        places_[header.number] = {payload, header.length, header.crc};
      }
      end_ = payload + header.length;
    }
    if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0) fail("truncate", "check the disk");
  }

  // The number of elements that the mark states, if it states the truth.
  std::optional<int64_t> count_in(const EntryHeader& mark, uint64_t payload) const
      HEADWAY_REQUIRES(mu_) {
    int64_t count = 0;
    if (mark.length != sizeof count) return std::nullopt;
    read(payload, reinterpret_cast<char*>(&count), sizeof count);
    if (mark.crc != crc32c({reinterpret_cast<const char*>(&count), sizeof count}) || count < 0 ||
        places_.size() != static_cast<uint64_t>(count)) {
      return std::nullopt;
    }
    return count;
  }

  const std::string path_;
  int fd_ = -1;
  Mutex mu_;
  std::unordered_map<int64_t, Place> places_ HEADWAY_GUARDED_BY(mu_);
  std::optional<int64_t> complete_ HEADWAY_GUARDED_BY(mu_);
  uint64_t end_ HEADWAY_GUARDED_BY(mu_) = 0;
};

}  // namespace

std::shared_ptr<CacheStore> memory_cache() { return std::make_shared<MemoryCache>(); }

std::shared_ptr<CacheStore> file_cache(const std::string& path, const std::string& description) {
  return std::make_shared<FileCache>(path, description);
}

}  // namespace headway
