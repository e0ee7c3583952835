// Any bytes as a TFRecord file: no crash, no hang, no false claim.
// The first byte chooses: bits 0-1 the compression to read with, bit 2 to make the CRCs right first
// (no fuzzer guesses a CRC), bit 3 to compress the bytes first.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "headway/core/error.h"
#include "headway/io/bytes/deflate.h"
#include "headway/io/records/text.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_format.h"
#include "headway/io/records/tfrecord_index.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

// Makes a chain of well-formed frames of the bytes, as far as they reach.
void make_crcs_right(std::string& bytes) {
  size_t at = 0;
  while (bytes.size() - at >= tfrecord::kFrameBytes) {
    char* frame = bytes.data() + at;
    const size_t room = bytes.size() - at - tfrecord::kFrameBytes;
    const size_t length = tfrecord::length_in(frame) % 1024;
    tfrecord::put_header(length, frame);
    if (length > room) return;
    tfrecord::put_crc({frame + tfrecord::kHeaderBytes, length},
                      frame + tfrecord::kHeaderBytes + length);
    at += length + tfrecord::kFrameBytes;
  }
}

std::string compressed(Compression compression, std::string_view bytes) {
  Deflater deflater(compression);
  std::string out;
  deflater.write(bytes, out);
  deflater.finish(out);
  return out;
}

// The number of records, or nullopt where there was damage.
std::optional<size_t> read_through(const std::string& path, Compression compression) {
  TFRecordReader reader(path, {.compression = compression, .max_record_bytes = 1 << 20});
  Record record;
  size_t count = 0;
  bool damaged = false;
  uint64_t before = 0;
  for (bool more = true; more;) {
    try {
      more = reader.next(record);
      if (more) {
        ++count;
        require(record.offset >= 0 && static_cast<uint64_t>(record.offset) >= before);
        require(masked_crc32c(record.bytes) == masked_crc32c(record.tensor().bytes()));
      }
    } catch (const SampleError& e) {
      damaged = true;
      require(!e.reason().empty());
      more = true;
    }
    const uint64_t now = reader.tell();
    require(now >= before);
    before = now;
  }
  require(!reader.next(record));
  return damaged ? std::nullopt : std::optional(count);
}

void check_index(const std::string& path) {
  const std::optional<size_t> count = read_through(path, Compression::kNone);
  try {
    const TFRecordIndex index = build_index(path);
    require(!count || index.count() == *count);
    const TFRecordFile file(path);
    for (size_t i = 0; count && i < index.count(); ++i)
      file.read_at(index.offset(i), index.length(i));
  } catch (const SampleError&) {
    require(!count);
  }
}

void read_lines(const std::string& path) {
  try {
    TextReader reader(path, {.max_line_bytes = 1 << 16});
    for (Record line; reader.next(line);) require(line.bytes.find('\n') == std::string_view::npos);
  } catch (const SampleError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr Compression kChoices[] = {Compression::kNone, Compression::kGzip, Compression::kZlib,
                                      Compression::kAuto};
  const Compression compression = kChoices[data[0] & 3];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 4) make_crcs_right(bytes);
  if (data[0] & 8) {
    bytes = compressed(compression == Compression::kZlib ? compression : Compression::kGzip, bytes);
  }
  const MemoryFile file(bytes);
  read_through(file.path(), compression);
  check_index(file.path());
  read_lines(file.path());
  return 0;
}
