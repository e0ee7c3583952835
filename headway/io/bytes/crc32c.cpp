#include "headway/io/bytes/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace headway {

uint32_t crc32c(std::string_view bytes) { return crc32c_extend(0, bytes); }

uint32_t crc32c_extend(uint32_t crc, std::string_view bytes) {
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // the library counts in int
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kMostAtOnce);
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    state = crc32_iscsi(data, static_cast<int>(n), state);
    bytes.remove_prefix(n);
  }
  return ~state;
}

}  // namespace headway
