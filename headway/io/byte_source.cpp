#include "headway/io/byte_source.h"

#include "headway/io/inflate.h"

namespace headway {
namespace {

// Read by pread into hot blocks, not mapped: a mapped file that somebody truncates kills the
// reader with SIGBUS, and mapped pages handed on as tensors could do so long after.
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
  void seek(uint64_t offset) override { offset_ = offset; }
  uint64_t left_bytes() const override {
    const uint64_t size = file_.size_bytes();
    return offset_ < size ? size - offset_ : 0;
  }
  size_t read_ahead_bytes() const override { return size_t{64} << 10; }
  const std::string& path() const override { return file_.path(); }

 private:
  static constexpr uint64_t kBeyondAnyFile = uint64_t{1} << 62;  // the kernel refuses such offsets

  File file_;
  uint64_t offset_ = 0;
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
