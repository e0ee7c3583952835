#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "headway/io/bytes/crc32c.h"

// How a record lies in a TFRecord file, all numbers little-endian:
//   uint64 length | uint32 masked CRC of the length | length bytes | uint32 masked CRC of the bytes
namespace headway::tfrecord {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

constexpr size_t kHeaderBytes = 12;
constexpr size_t kFooterBytes = 4;
constexpr size_t kFrameBytes = kHeaderBytes + kFooterBytes;

inline uint64_t length_in(const char* header) {
  uint64_t length;
  std::memcpy(&length, header, sizeof length);
  return length;
}

inline bool crc_follows(std::string_view bytes) {
  uint32_t stored;
  std::memcpy(&stored, bytes.data() + bytes.size(), sizeof stored);
  return stored == masked_crc32c(bytes);
}

inline bool header_is_right(const char* header) { return crc_follows({header, sizeof(uint64_t)}); }

inline void put_crc(std::string_view bytes, char* into) {
  const uint32_t crc = masked_crc32c(bytes);
  std::memcpy(into, &crc, sizeof crc);
}

inline void put_header(uint64_t length, char* into) {
  std::memcpy(into, &length, sizeof length);
  put_crc({into, sizeof length}, into + sizeof length);
}

}  // namespace headway::tfrecord
