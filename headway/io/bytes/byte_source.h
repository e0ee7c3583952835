#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "headway/io/bytes/compression.h"
#include "headway/io/bytes/file.h"

namespace headway {

// Bytes in order, from a plain or a compressed file. Offsets count bytes after decompression.
// Call from one thread.
class ByteSource {
 public:
  static constexpr uint64_t kUnknown = UINT64_MAX;

  virtual ~ByteSource() = default;

  // Up to `n` bytes; 0 only at the end. Damage throws SampleError, after everything before it was
  // given; the end follows.
  virtual size_t read(char* into, size_t n) = 0;
  // At least `n` bytes from `offset` on as they lie in the page cache, without a copy, and the next
  // read() follows them; null where that cannot be had or does not pay.
  virtual Storage* view(uint64_t /*offset*/, uint64_t /*n*/) { return nullptr; }
  virtual void seek(uint64_t offset) = 0;
  virtual uint64_t left_bytes() const = 0;      // until the end, or kUnknown
  virtual size_t read_ahead_bytes() const = 0;  // what it likes to be asked for at once
  virtual const std::string& path() const = 0;
};

// What the first bytes of a file say about its compression.
using DetectCompression = Compression (*)(std::string_view head);

// kGzip by its magic bytes, else kNone: right for text, where "x^2" looks like zlib.
Compression detect_gzip(std::string_view head);
// True when `head` can start a zlib stream.
bool looks_like_zlib(std::string_view head);

// `detect` decides where `compression` is kAuto.
std::unique_ptr<ByteSource> open_source(const std::string& path, Compression compression,
                                        DetectCompression detect = detect_gzip);

}  // namespace headway
