#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "headway/check/facts/disk.h"
#include "headway/core/clock.h"
#include "headway/core/descriptor.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargeRead = 1 << 20, kSmallRead = 64 << 10, kAlign = 4096;
constexpr int64_t kLargeFile = 8 << 20;     // from this size on a file serves long reads
constexpr int64_t kOwnFile = 64 << 20;      // of ours
constexpr int64_t kRoomForOwn = 256 << 20;  // what must be free before we write it
constexpr int64_t kMostEntries = 20000, kMostSmall = 400, kMostLarge = 16;
constexpr size_t kRounds = 64;  // short reads of one file, at most
constexpr double kListSeconds = 0.5;

struct Sample {
  std::string path{};
  int64_t bytes = 0;
};

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char, Free>;

Memory aligned_memory(int64_t bytes) {
  return Memory(static_cast<char*>(
      std::aligned_alloc(static_cast<size_t>(kAlign), static_cast<size_t>(bytes))));
}

// A file opened past the page cache, or after its pages were dropped.
struct OpenedFile {
  Descriptor descriptor;
  bool past_cache = false;
};

// Is any page of the file still in memory?
bool is_cached(int descriptor, int64_t bytes) {
  const int64_t length = std::min(bytes, kOwnFile);
  void* view = ::mmap(nullptr, static_cast<size_t>(length), PROT_READ, MAP_SHARED, descriptor, 0);
  if (view == MAP_FAILED) return true;
  std::vector<unsigned char> pages(static_cast<size_t>((length + kAlign - 1) / kAlign));
  const bool known = ::mincore(view, static_cast<size_t>(length), pages.data()) == 0;
  ::munmap(view, static_cast<size_t>(length));
  return !known || std::any_of(pages.begin(), pages.end(), [](unsigned char c) { return c & 1; });
}

OpenedFile open_past_cache(const Sample& file, char* probe) {
  OpenedFile out{Descriptor(::open(file.path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC))};
  if (out.descriptor.open() && ::pread(out.descriptor.get(), probe, kAlign, 0) >= 0) {
    out.past_cache = true;
    return out;
  }
  out.descriptor = Descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!out.descriptor.open()) return out;
  ::posix_fadvise(out.descriptor.get(), 0, 0, POSIX_FADV_DONTNEED);
  out.past_cache = !is_cached(out.descriptor.get(), file.bytes);
  return out;
}

// Regular files below the folder, as many as are found in a moment.
std::vector<Sample> list_files(const std::string& path) {
  std::vector<Sample> out;
  const int64_t end_ns = now_ns() + static_cast<int64_t>(1e9 * kListSeconds);
  const auto take = [&](const fs::path& file) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
      out.push_back({file.string(), status.st_size});
  };
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    take(path);
    return out;
  }
  int64_t seen = 0;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (++seen > kMostEntries || now_ns() > end_ns) break;
    take(at->path());
  }
  return out;
}

class OwnFile {
 public:
  // Empty path: it could not be written; `why` tells.
  OwnFile(const std::string& folder, std::string& why) {
    std::string name = folder + "/.headway-check-XXXXXX";
    Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
    if (!file.open()) {
      why = fmt::format("no file can be made in it: {}", std::strerror(errno));
      return;
    }
    path_ = name;
    const Memory block = aligned_memory(kLargeRead);
    uint64_t state = 0x9e3779b97f4a7c15;  // bytes that no file system can store shorter
    for (int64_t i = 0; i < kLargeRead; i += 8) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      std::memcpy(block.get() + i, &state, sizeof state);
    }
    for (int64_t written = 0; written < kOwnFile; written += kLargeRead) {
      std::memcpy(block.get(), &written, sizeof written);
      if (::write(file.get(), block.get(), kLargeRead) == kLargeRead) continue;
      why = fmt::format("a file of {} MB cannot be written in it: {}", kOwnFile >> 20,
                        std::strerror(errno));
      remove();
      return;
    }
    ::fdatasync(file.get());
  }
  ~OwnFile() { remove(); }
  OwnFile(const OwnFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  void remove() {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
  }
  std::string path_;
};

// Reads files from front to back until the time is over.
void read_large(const std::vector<Sample>& files, double seconds, DiskSpeed& out) {
  const Memory memory = aligned_memory(kLargeRead);
  const int64_t limit_ns = static_cast<int64_t>(1e9 * seconds);
  int64_t spent_ns = 0, bytes = 0;
  for (const Sample& file : files) {
    const OpenedFile opened = open_past_cache(file, memory.get());
    if (!opened.descriptor.open()) continue;
    out.past_cache &= opened.past_cache;
    // The first block was touched by the probe.
    for (int64_t at = kLargeRead; spent_ns < limit_ns; at += kLargeRead) {
      const int64_t begin_ns = now_ns();
      const ssize_t got = ::pread(opened.descriptor.get(), memory.get(), kLargeRead, at);
      spent_ns += now_ns() - begin_ns;
      if (got <= 0) break;
      bytes += got;
    }
  }
  if (bytes > 0 && spent_ns > 0) out.large_bytes_per_s = 1e9 * double(bytes) / double(spent_ns);
}

// A place in the file at which a short read begins.
int64_t place_in(const Sample& file, uint64_t& state) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  const int64_t pages = (file.bytes - kSmallRead) / kAlign;
  return pages <= 0 ? 0 : static_cast<int64_t>(state % static_cast<uint64_t>(pages)) * kAlign;
}

// Opens files in turn and reads a piece of each, at a place drawn by lot.
void read_small(const std::vector<Sample>& files, double seconds, DiskSpeed& out) {
  const Memory memory = aligned_memory(kSmallRead);
  const int64_t limit_ns = static_cast<int64_t>(1e9 * seconds);
  int64_t spent_ns = 0, reads = 0, bytes = 0;
  uint64_t state = static_cast<uint64_t>(now_ns()) | 1;
  bool direct = true;
  for (size_t i = 0; i < files.size() * kRounds && spent_ns < limit_ns; ++i) {
    const Sample& file = files[i % files.size()];
    // A small file is read once: the second time it may lie in a cache of the disk's.
    if (i >= files.size() && file.bytes < static_cast<int64_t>(kRounds) * kSmallRead) continue;
    const int64_t place = place_in(file, state);
    const int flags = O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0);
    int64_t begin_ns = now_ns();
    const Descriptor opened(::open(file.path.c_str(), flags));
    if (opened.open() && !direct) {
      const int64_t pause_ns = now_ns();
      ::posix_fadvise(opened.get(), 0, 0, POSIX_FADV_DONTNEED);
      out.past_cache &= !is_cached(opened.get(), file.bytes);
      begin_ns += now_ns() - pause_ns;
    }
    const ssize_t got = opened.open() ? ::pread(opened.get(), memory.get(), kSmallRead, place) : -1;
    if (got < 0 && errno == EINVAL) direct = false;
    if (got <= 0) continue;
    spent_ns += now_ns() - begin_ns;
    ++reads, bytes += got;
  }
  if (reads == 0 || spent_ns == 0) return;
  out.small_reads_per_s = 1e9 * double(reads) / double(spent_ns);
  out.small_bytes = bytes / reads;
}

}  // namespace

DiskSpeed measure_disk(const DiskFacts& disk, double seconds) {
  DiskSpeed out{.past_cache = true};
  if (!disk.there || !disk.trouble.empty()) {
    out.trouble = "the folder cannot be read";
    return out;
  }
  if (disk.in_memory) {
    out.trouble = disk.file_system + " lies in memory: there is no disk to measure";
    return out;
  }
  std::vector<Sample> files = list_files(disk.path);
  std::vector<Sample> large;
  for (const Sample& each : files)
    if (each.bytes >= kLargeFile && large.size() < kMostLarge) large.push_back(each);
  // Spread over the whole list: neighbours lie beside each other on the disk.
  std::vector<Sample> small;
  const size_t step = std::max<size_t>(1, files.size() / kMostSmall);
  for (size_t i = 0; i < files.size() && small.size() < kMostSmall; i += step)
    small.push_back(files[i]);
  out.files = static_cast<int64_t>(small.size());

  std::error_code error;
  std::unique_ptr<OwnFile> own;
  std::string why;
  if (large.empty() && fs::is_directory(disk.path, error)) {
    if (disk.free_bytes < kRoomForOwn) why = "too little is free to write a file of our own";
    else own = std::make_unique<OwnFile>(disk.path, why);
    if (own && !own->path().empty()) large.push_back({own->path(), kOwnFile});
  }
  if (small.size() < 20 && !large.empty()) small = large, out.files = own ? 0 : out.files;
  if (!large.empty()) read_large(large, seconds, out);
  if (!small.empty()) read_small(small, seconds, out);
  if (out.large_bytes_per_s == 0 && out.small_reads_per_s == 0)
    out.trouble = why.empty() ? "no file in it could be read" : why;
  return out;
}

}  // namespace headway
