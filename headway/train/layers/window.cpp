#include "headway/train/layers/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/core/error.h"
#include "headway/train/layers/shapes.h"

namespace headway {

Slide slide(int64_t inputs, int64_t window, int64_t stride, Padding padding) {
  if (inputs == kAny) return {.outputs = kAny};
  if (padding == Padding::kValid) {
    return {.outputs = inputs < window ? 0 : (inputs - window) / stride + 1};
  }
  const int64_t outputs = (inputs + stride - 1) / stride;
  const int64_t missing = std::max<int64_t>((outputs - 1) * stride + window - inputs, 0);
  return {.outputs = outputs, .before = missing / 2, .after = missing - missing / 2};
}

Shape slide_over(const std::string& kind, const Shape& image, Size2D window, Size2D stride,
                 Padding padding, int64_t channels) {
  require_image(kind, image);
  const int64_t height = slide(image[0], window.height, stride.height, padding).outputs;
  const int64_t width = slide(image[1], window.width, stride.width, padding).outputs;
  if (height == 0 || width == 0) {
    throw Error(
        fmt::format("{}'s window of {}x{} is larger than the image, {}", kind, window.height,
                    window.width, text(image)),
        "use a smaller window, .padding = \"same\", or smaller strides in the layers before");
  }
  return {height, width, channels};
}

void require_positive(const std::string& kind, const char* what, Size2D size) {
  if (size.height > 0 && size.width > 0) return;
  throw Error(fmt::format("{}: invalid {} {}x{}", kind, what, size.height, size.width),
              "both must be at least 1");
}

}  // namespace headway
