#include "headway/io/records/tfrecord_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string_view>

#include "headway/core/checked_size.h"
#include "headway/io/bytes/file.h"
#include "headway/io/bytes/output_file.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_format.h"

namespace headway {
namespace {

using namespace tfrecord;

constexpr char kMagic[8] = {'H', 'W', 'I', 'D', 'X', '\r', '\n', '\0'};
constexpr uint32_t kVersion = 1;

struct SidecarHead {
  char magic[8];
  uint32_t version;
  uint32_t unused;
  uint64_t file_bytes;
  int64_t mtime_ns;
  uint64_t count;
};
static_assert(sizeof(SidecarHead) == 40);

std::string_view bytes_of(const SidecarHead& head) {
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

std::string_view bytes_of(const std::vector<uint32_t>& lengths) {
  return {reinterpret_cast<const char*>(lengths.data()), lengths.size() * sizeof(uint32_t)};
}

SidecarHead head_for(const File& file, uint64_t count) {
  SidecarHead head{};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.version = kVersion;
  head.file_bytes = file.size_bytes();
  head.mtime_ns = file.mtime_ns();
  head.count = count;
  return head;
}

// A sidecar that cannot be read is as good as none. A pipe, a device or a socket in its place is
// somebody else's: it is refused, not replaced.
std::optional<File> open_sidecar(const std::string& path) {
  const std::string sidecar = index_path(path);
  try {
    return File(sidecar);
  } catch (const SampleError&) {
    std::error_code missing;
    if (std::filesystem::is_other(sidecar, missing)) throw;
    return std::nullopt;
  }
}

// Headers of a file: a big window where records are small, single headers where they are large.
class HeaderScan {
 public:
  explicit HeaderScan(const File& file) : file_(file), window_(new char[kWindowBytes]) {}

  // The header at `offset`, or nullptr when the file ends before it does.
  const char* at(uint64_t offset) {
    if (offset < start_ || offset + kHeaderBytes > start_ + size_) {
      const bool near = offset < start_ + size_ + kNearBytes;
      start_ = offset;
      size_ = file_.pread(offset, window_.get(), near ? kWindowBytes : kHeaderBytes);
    }
    if (size_ - (offset - start_) < kHeaderBytes) return nullptr;
    return window_.get() + (offset - start_);
  }

 private:
  static constexpr size_t kWindowBytes = size_t{128} << 10;
  static constexpr uint64_t kNearBytes = uint64_t{16} << 10;

  const File& file_;
  std::unique_ptr<char[]> window_;
  uint64_t start_ = 0;
  size_t size_ = 0;
};

[[noreturn]] void cut_short(const File& file, uint64_t offset, uint64_t left) {
  throw SampleError({file.path(), static_cast<int64_t>(offset)},
                    fmt::format("the file ends in the middle of a record, of which only {} bytes "
                                "are there",
                                left),
                    "copy or make the file again, or wait until it is fully written");
}

[[noreturn]] void wrong_header(const File& file, uint64_t offset, const char* header) {
  const bool compressed =
      offset == 0 && detect_tfrecord_compression({header, kHeaderBytes}) != Compression::kNone;
  throw SampleError({file.path(), static_cast<int64_t>(offset)},
                    "the length of a record is damaged: its checksum (CRC) is wrong",
                    compressed ? "the file is compressed, so its records cannot be read by their "
                                 "number: decompress it, or read it in order with .index = false "
                                 "in tfrecord's options"
                               : "the file is damaged: copy or make it again, or read it in order "
                                 "with .index = false in tfrecord's options");
}

}  // namespace

uint64_t TFRecordIndex::offset(size_t i) const {
  uint64_t offset = anchors_[i / kStride];
  for (size_t k = i / kStride * kStride; k < i; ++k) offset += lengths_[k] + kFrameBytes;
  return offset;
}

size_t TFRecordIndex::memory_bytes() const {
  return lengths_.capacity() * sizeof(uint32_t) + anchors_.capacity() * sizeof(uint64_t);
}

void TFRecordIndex::append(uint32_t length) {
  if (lengths_.size() % kStride == 0) anchors_.push_back(file_bytes_);
  lengths_.push_back(length);
  file_bytes_ += length + kFrameBytes;
}

void TFRecordIndex::find_anchors() {
  file_bytes_ = 0;
  anchors_.reserve((lengths_.size() + kStride - 1) / kStride);
  for (size_t i = 0; i < lengths_.size(); i += kStride) {
    anchors_.push_back(file_bytes_);
    const size_t end = std::min(i + kStride, lengths_.size());
    file_bytes_ += std::accumulate(lengths_.begin() + i, lengths_.begin() + end, uint64_t{0}) +
                   (end - i) * kFrameBytes;
  }
}

TFRecordIndex build_index(const std::string& path) {
  const File file(path);
  const uint64_t size = file.size_bytes();
  HeaderScan scan(file);
  TFRecordIndex index;
  for (uint64_t offset = 0; offset < size; offset = index.file_bytes()) {
    const uint64_t left = size - offset;
    const char* header = scan.at(offset);
    if (!header) cut_short(file, offset, left);
    if (!header_is_right(header)) wrong_header(file, offset, header);
    const uint64_t length = length_in(header);
    if (left < kFrameBytes || length > left - kFrameBytes) cut_short(file, offset, left);
    if (length > UINT32_MAX) {
      throw SampleError(
          {path, static_cast<int64_t>(offset)},
          fmt::format("a record has {} bytes, but an index allows at most {}", length, UINT32_MAX),
          "read the file in order, without an index: .index = false in tfrecord's options");
    }
    index.append(static_cast<uint32_t>(length));
  }
  return index;
}

std::optional<TFRecordIndex> load_index(const std::string& path) {
  const File file(path);
  const std::optional<File> sidecar = open_sidecar(path);
  SidecarHead head;
  if (!sidecar || sidecar->pread(0, reinterpret_cast<char*>(&head), sizeof head) != sizeof head) {
    return std::nullopt;
  }
  const SidecarHead wanted = head_for(file, head.count);
  if (std::memcmp(&head, &wanted, sizeof head) != 0) return std::nullopt;
  const std::optional<uint64_t> words = checked_sum(head.count, 1);  // the last is the CRC
  const std::optional<uint64_t> rest = words ? checked_product(*words, sizeof(uint32_t)) : words;
  if (!rest || checked_sum(sizeof head, *rest) != sidecar->size_bytes()) return std::nullopt;

  TFRecordIndex index;
  index.lengths_.resize(*words);
  if (sidecar->pread(sizeof head, reinterpret_cast<char*>(index.lengths_.data()), *rest) != *rest) {
    return std::nullopt;
  }
  const uint32_t crc = index.lengths_.back();
  index.lengths_.pop_back();
  if (crc32c_extend(crc32c(bytes_of(head)), bytes_of(index.lengths_)) != crc) return std::nullopt;
  index.find_anchors();
  if (index.file_bytes() != head.file_bytes) return std::nullopt;
  return index;
}

void save_index(const std::string& path, const TFRecordIndex& index) {
  const SidecarHead head = head_for(File(path), index.count());
  const uint32_t crc = crc32c_extend(crc32c(bytes_of(head)), bytes_of(index.lengths_));
  AtomicFile sidecar(index_path(path));
  sidecar.write(bytes_of(head));
  sidecar.write(bytes_of(index.lengths_));
  sidecar.write({reinterpret_cast<const char*>(&crc), sizeof crc});
  sidecar.commit();
}

TFRecordIndex index_of(const std::string& path) {
  if (auto index = load_index(path)) return *std::move(index);
  TFRecordIndex index = build_index(path);
  try {
    save_index(path, index);
  } catch (const Error&) {
    // A read-only data folder is common, and the index in memory serves as well.
  }
  return index;
}

std::string index_path(const std::string& path) { return path + ".hwidx"; }

}  // namespace headway
