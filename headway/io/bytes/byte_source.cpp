#include "headway/io/bytes/byte_source.h"

#include <sys/resource.h>

#include <algorithm>

#include "headway/io/bytes/inflate.h"

namespace headway {
namespace {

// Pages this thread had to wait for until a disk gave them.
int64_t major_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

// A file in the page cache is mapped, window by window; one that has to come from a disk is read,
// so that the kernel reads ahead and the waiting is in a call that can be timed and can fail.
class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(File file) : file_(std::move(file)) {
    file_.advise(File::Access::kSequential);
  }

  size_t read(char* into, size_t n) override {
    if (offset_ >= kBeyondAnyFile) return 0;
    const size_t got = file_.pread(offset_, into, n);
    offset_ += got;
    return got;
  }
  Storage* view(uint64_t offset, uint64_t n) override {
    if (!mapping_pays_) return nullptr;
    const uint64_t size = file_.size_bytes();
    if (offset > size || n > size - offset || size - offset < kWorthMapping) return nullptr;
    const size_t length = std::min(std::max(n, window_bytes_), size - offset);
    const int64_t before = major_faults();
    Storage* const window = file_.map(offset, length);
    mapping_pays_ = window && major_faults() - before <= kCachedFaults;
    if (!window) return nullptr;
    window_bytes_ = std::min(2 * window_bytes_, kLargestWindow);
    offset_ = offset + length;
    return window;
  }
  void seek(uint64_t offset) override { offset_ = offset; }
  uint64_t left_bytes() const override {
    const uint64_t size = file_.size_bytes();
    return offset_ < size ? size - offset_ : 0;
  }
  size_t read_ahead_bytes() const override { return size_t{64} << 10; }
  const std::string& path() const override { return file_.path(); }

 private:
  static constexpr uint64_t kBeyondAnyFile = uint64_t{1} << 62;  // the kernel refuses such offsets
  static constexpr uint64_t kWorthMapping = uint64_t{1} << 20;
  static constexpr uint64_t kLargestWindow = uint64_t{64} << 20;  // mapping and unmapping cost, too
  static constexpr int64_t kCachedFaults = 2;                     // more: it came from a disk

  File file_;
  uint64_t offset_ = 0;
  bool mapping_pays_ = true;
  uint64_t window_bytes_ = kWorthMapping;  // of the next one: little is waited for if it is cold
};

}  // namespace

std::string_view name_of(Compression compression) {
  switch (compression) {
    case Compression::kNone: return "none";
    case Compression::kGzip: return "gzip";
    case Compression::kZlib: return "zlib";
    case Compression::kAuto: return "auto";
  }
  return "?";
}

Compression detect_gzip(std::string_view head) {
  return head.starts_with("\x1f\x8b\x08") ? Compression::kGzip : Compression::kNone;
}

bool looks_like_zlib(std::string_view head) {
  if (head.size() < 2) return false;
  const unsigned method = static_cast<unsigned char>(head[0]);
  const unsigned flags = static_cast<unsigned char>(head[1]);
  constexpr unsigned kPresetDictionary = 0x20;
  return (method & 0x0f) == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0 &&
         (flags & kPresetDictionary) == 0;
}

std::unique_ptr<ByteSource> open_source(const std::string& path, Compression compression,
                                        DetectCompression detect) {
  File file(path);
  if (compression == Compression::kAuto) {
    char head[16];
    compression = detect({head, file.pread(0, head, sizeof head)});
  }
  if (compression == Compression::kNone) return std::make_unique<PlainSource>(std::move(file));
  return std::make_unique<InflateSource>(std::move(file), compression);
}

}  // namespace headway
