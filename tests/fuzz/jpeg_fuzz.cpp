// Any bytes through the JPEG decoder: header, window, every mode. The last byte chooses. A decoder
// that has seen all files before must do with them what a fresh one does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "headway/io/bytes/crc32c.h"
#include "headway/io/images/jpeg.h"

namespace {

using namespace headway;

constexpr int64_t kMaxPixels = 1 << 20;  // what is larger only takes time

// The checksum of the pixels, or what the error says.
std::string outcome(JpegDecoder& decoder, std::span<const uint8_t> bytes, JpegOptions options,
                    bool crop) {
  const Origin origin{.file = "fuzz"};
  uint32_t crc = 0;
  try {
    const JpegHeader header = decoder.open(bytes, origin);
    if (int64_t{header.width} * header.height > kMaxPixels) return "large";
    const int d = options.scale_denominator;
    const int width = (header.width + d - 1) / d, height = (header.height + d - 1) / d;
    if (crop) options.window = {width / 3, height / 3, width - width / 2, height - height / 2};
    const int channels = options.channels ? options.channels : std::min(header.channels, 3);
    const auto row_bytes = size_t(options.window ? options.window->width : width) * channels;
    decoder.decode(options, [&](const uint8_t* row) {
      crc = crc32c_extend(crc, {reinterpret_cast<const char*>(row), row_bytes});
    });
  } catch (const SampleError& e) {
    return e.what();
  }
  return std::to_string(crc);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static JpegDecoder kept;
  if (size < 2) return 0;
  const uint8_t choice = data[size - 1];
  const std::span<const uint8_t> bytes(data, size - 1);
  const JpegOptions options{.channels = choice & 1 ? 3 : 0,
                            .mode = choice & 2 ? DecodeMode::kFast : DecodeMode::kExact,
                            .scale_denominator = 1 << (choice >> 2 & 3),
                            .allow_damage = (choice & 16) != 0,
                            .plain = (choice & 64) != 0};
  JpegDecoder fresh;
  const bool crop = (choice & 32) != 0;
  if (outcome(kept, bytes, options, crop) != outcome(fresh, bytes, options, crop)) std::abort();
  return 0;
}
