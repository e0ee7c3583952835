#pragma once

#include <cstdint>
#include <string_view>

namespace headway {

// CRC-32C (Castagnoli), the checksum of TFRecord files. Safe from any thread.
uint32_t crc32c(std::string_view bytes);

// The CRC of a text and its continuation, given the CRC of the first: extend(crc32c(a), b) ==
// crc32c(a + b).
uint32_t crc32c_extend(uint32_t crc, std::string_view bytes);

// TFRecord stores CRCs rotated and offset, so that a CRC over bytes that hold CRCs stays strong.
inline uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

}  // namespace headway
