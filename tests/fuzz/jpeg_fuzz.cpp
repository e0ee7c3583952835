// Any bytes through the JPEG decoder: header, window, every mode. The last byte chooses.
#include <cstddef>
#include <cstdint>
#include <span>

#include "headway/io/jpeg.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headway;
  constexpr int64_t kMaxPixels = 1 << 20;  // what is larger only takes time
  static JpegDecoder decoder;
  if (size < 2) return 0;
  const uint8_t choice = data[size - 1];
  const std::span<const uint8_t> bytes(data, size - 1);
  JpegOptions options{.channels = choice & 1 ? 3 : 0,
                      .mode = choice & 2 ? DecodeMode::kFast : DecodeMode::kExact,
                      .scale_denominator = 1 << (choice >> 2 & 3),
                      .allow_damage = (choice & 16) != 0};
  const Origin origin{.file = "fuzz"};
  try {
    const JpegHeader header = decoder.open(bytes, origin);
    if (int64_t{header.width} * header.height > kMaxPixels) return 0;
    const int d = options.scale_denominator;
    const int width = (header.width + d - 1) / d, height = (header.height + d - 1) / d;
    if (choice & 32)
      options.window = {width / 3, height / 3, width - width / 2, height - height / 2};
    uint64_t sum = 0;
    const int last = (options.window ? options.window->width : width) - 1;
    decoder.decode(options, [&](const uint8_t* row) { sum += row[0] + row[last]; });
  } catch (const SampleError&) {
  }
  return 0;
}
