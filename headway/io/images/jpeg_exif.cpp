#include "headway/io/images/jpeg_exif.h"

#include <cstring>
#include <optional>

namespace headway {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;

struct Tiff {
  std::span<const uint8_t> bytes;
  bool little = true;

  std::optional<uint32_t> read(size_t at, int size) const {
    if (at > bytes.size() || bytes.size() - at < size_t(size)) return std::nullopt;
    uint32_t value = 0;
    for (int i = 0; i < size; ++i)
      value |= uint32_t{bytes[at + i]} << 8 * (little ? i : size - 1 - i);
    return value;
  }
};

int orientation_in(std::span<const uint8_t> tiff_bytes) {
  if (tiff_bytes.size() < 8) return 1;
  const Tiff tiff{tiff_bytes, tiff_bytes[0] == 'I'};
  const auto directory = tiff.read(4, 4);
  const auto entries = directory ? tiff.read(*directory, 2) : std::nullopt;
  for (uint32_t i = 0; entries && i < *entries; ++i) {
    const size_t entry = size_t{*directory} + 2 + 12 * size_t{i};
    const auto tag = tiff.read(entry, 2);
    if (!tag) return 1;
    if (*tag != kOrientationTag) continue;
    const auto value = tiff.read(entry + 8, 2);
    return value && *value >= 1 && *value <= 8 ? int(*value) : 1;
  }
  return 1;
}

}  // namespace

// Walks the markers in front of the first scan.
int exif_orientation(std::span<const uint8_t> bytes) {
  static constexpr uint8_t kExif[] = {'E', 'x', 'i', 'f', 0, 0};
  size_t at = 2;
  while (at + 4 <= bytes.size() && bytes[at] == 0xFF) {
    const uint8_t marker = bytes[at + 1];
    if (marker == 0xFF) {
      ++at;
      continue;
    }
    if (marker == 0xDA || marker == 0xD9) return 1;
    const size_t length = size_t{bytes[at + 2]} << 8 | bytes[at + 3];
    if (length < 2 || at + 2 + length > bytes.size()) return 1;
    const auto payload = bytes.subspan(at + 4, length - 2);
    if (marker == 0xE1 && payload.size() > sizeof(kExif) &&
        std::memcmp(payload.data(), kExif, sizeof(kExif)) == 0) {
      return orientation_in(payload.subspan(sizeof(kExif)));
    }
    at += 2 + length;
  }
  return 1;
}

}  // namespace headway
