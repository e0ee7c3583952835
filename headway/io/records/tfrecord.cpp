#include "headway/io/records/tfrecord.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headway/io/bytes/block_pool.h"
#include "headway/io/records/tfrecord_format.h"

namespace headway {
namespace {

using namespace tfrecord;

constexpr uint64_t kFarBeyond = uint64_t{1} << 62;  // the end of any file
constexpr const char* kMakeAgain =
    "the file is incomplete or still being written: copy or make it again";
constexpr const char* kDamaged =
    "the file is damaged: copy or make it again, or skip bad records: --skip-errors N of headway "
    "convert, .with_options({.errors = ErrorPolicy::skip_up_to(100)}) of a dataset";

std::string hint_for_header(uint64_t offset, std::string_view header) {
  if (offset > 0) return kDamaged;
  if (detect_gzip(header) == Compression::kGzip) {
    return "it looks like gzip: read it with .compression = Compression::kAuto or kGzip";
  }
  return "check that this is a TFRecord file, and that .compression says how it is compressed "
         "(kAuto finds out)";
}

std::string cut_short(uint64_t length, uint64_t have) {
  return fmt::format("cut short: a record of {} bytes, of which {} are there", length, have);
}

}  // namespace

Compression detect_tfrecord_compression(std::string_view head) {
  if (head.size() >= kHeaderBytes && header_is_right(head.data())) return Compression::kNone;
  if (detect_gzip(head) == Compression::kGzip) return Compression::kGzip;
  // A damaged plain file still has the zeros of a length below 4 GB; a zlib stream has not.
  const bool short_length =
      head.size() >= 8 && head.substr(4, 4) == std::string_view("\0\0\0\0", 4);
  return looks_like_zlib(head) && !short_length ? Compression::kZlib : Compression::kNone;
}

TFRecordReader::TFRecordReader(const std::string& path, TFRecordOptions options)
    : options_(options),
      in_(open_source(path, options.compression, detect_tfrecord_compression), true) {}

bool TFRecordReader::next(Record& record) {
  if (pending_) std::rethrow_exception(std::exchange(pending_, nullptr));
  if (lost_) find_record();
  const uint64_t offset = in_.tell();
  if (!in_.need(kHeaderBytes)) {
    const size_t have = in_.held().size();
    if (have == 0) return false;
    in_.consume_all();
    fail(offset, fmt::format("cut short: {} of the 12 bytes of a record's header", have),
         kMakeAgain);
  }
  if (!header_is_right(in_.held().data())) {
    lost_ = true;
    fail(offset, "the length of a record is damaged: its checksum (CRC) is wrong",
         hint_for_header(offset, in_.held()));
  }
  const uint64_t length = length_in(in_.held().data());
  const uint64_t most = std::min(options_.max_record_bytes, kFarBeyond);
  if (length > most) {
    in_.seek(offset + std::min(length, kFarBeyond) + kFrameBytes);
    fail(offset, fmt::format("a record of {} bytes, above the limit of {}", length, most),
         "raise max_record_bytes if it is real");
  }
  if (!in_.need(length + kFrameBytes)) {
    const uint64_t have = in_.held().size() - kHeaderBytes;
    in_.consume_all();
    fail(offset, cut_short(length, have), kMakeAgain);
  }
  const std::string_view bytes = in_.held().substr(kHeaderBytes, length);
  in_.consume(length + kFrameBytes);
  if (!crc_follows(bytes)) {
    fail(offset,
         fmt::format("a record of {} bytes is damaged: its checksum (CRC) is wrong", length),
         kDamaged);
  }
  record = {bytes, static_cast<int64_t>(offset), in_.block()};
  return true;
}

// Stops where the next whole header with a right CRC lies, or at the end.
void TFRecordReader::find_record() {
  in_.consume(1);
  lost_ = false;
  while (in_.need(kHeaderBytes)) {
    const std::string_view held = in_.held();
    const uint64_t most = std::min(options_.max_record_bytes, in_.left_bytes());
    const size_t last = held.size() - kHeaderBytes;
    for (size_t i = 0; i <= last; ++i) {
      const char* header = held.data() + i;
      if (length_in(header) <= most && header_is_right(header)) return in_.consume(i);
    }
    in_.consume(last + 1);
  }
  in_.consume_all();
}

void TFRecordReader::seek(uint64_t offset) {
  lost_ = false;
  pending_ = nullptr;
  in_.seek(offset);
}

uint64_t TFRecordReader::tell() {
  try {
    if (lost_) find_record();
  } catch (const SampleError&) {
    pending_ = std::current_exception();
  }
  return in_.tell();
}

void TFRecordReader::fail(uint64_t offset, const std::string& reason, const std::string& hint) {
  throw SampleError({in_.path(), static_cast<int64_t>(offset)}, reason, hint);
}

TFRecordFile::TFRecordFile(const std::string& path) : file_(path) {
  file_.advise(File::Access::kRandom);
}

uint64_t TFRecordFile::length_at(uint64_t offset) const {
  char header[kHeaderBytes];
  file_.pread_exact(offset, header, sizeof header);
  if (!header_is_right(header)) wrong_header(offset, header);
  return length_in(header);
}

Tensor TFRecordFile::read_at(uint64_t offset, int64_t expected) const {
  const uint64_t length = expected >= 0 ? static_cast<uint64_t>(expected) : length_at(offset);
  check_room(offset, length);
  Storage* block = BlockPool::shared().take(length + kFrameBytes);
  auto* data = static_cast<char*>(block->data());
  const std::string_view bytes(data + kHeaderBytes, length);
  Tensor record = Tensor::string_view_of(bytes, block);
  block->drop();  // the tensor holds it
  file_.pread_exact(offset, data, length + kFrameBytes);
  if (!header_is_right(data)) wrong_header(offset, data);
  if (length_in(data) != length) {
    throw SampleError(
        {path(), static_cast<int64_t>(offset)},
        fmt::format("a record has {} bytes, but the index of the file (.hwidx) says {}",
                    length_in(data), length),
        "the file has changed since its index was made: start again; if that does not help, delete "
        "the .hwidx file, which Headway makes again");
  }
  if (crc_follows(bytes)) return record;
  throw SampleError(
      {path(), static_cast<int64_t>(offset)},
      fmt::format("a record of {} bytes is damaged: its checksum (CRC) is wrong", length),
      kDamaged);
}

// Asks for the file's size only where a wrong length would cost much memory.
void TFRecordFile::check_room(uint64_t offset, uint64_t length) const {
  constexpr uint64_t kWorthAsking = uint64_t{1} << 20;
  if (length < kWorthAsking) return;
  const uint64_t size = size_bytes();
  const uint64_t left = offset < size ? size - offset : 0;
  if (left >= kFrameBytes && length <= left - kFrameBytes) return;
  throw SampleError({path(), static_cast<int64_t>(offset)}, cut_short(length, left), kMakeAgain);
}

void TFRecordFile::wrong_header(uint64_t offset, const char* header) const {
  throw SampleError({path(), static_cast<int64_t>(offset)},
                    "the length of a record is damaged: its checksum (CRC) is wrong",
                    hint_for_header(offset, {header, kHeaderBytes}));
}

}  // namespace headway
