#include "headway/train/layers/shapes.h"

#include <fmt/format.h>

#include <cmath>

#include "headway/core/error.h"
#include "headway/train/model/layer.h"

namespace headway {
namespace {

int64_t whole_root(int64_t n) {
  const int64_t root = std::llround(std::sqrt(static_cast<double>(n)));
  return root * root == n ? root : 0;
}

// The image shape that a vector or a grey image most likely stands for.
std::string likely_image(const Shape& input) {
  if (input.rank() == 2) return fmt::format("{{{}, {}, 1}}", input[0], input[1]);
  if (input.rank() == 1 && input[0] > 1) {
    for (const int64_t channels : {1, 3, 4}) {
      const int64_t side = input[0] % channels ? 0 : whole_root(input[0] / channels);
      if (side > 1) return fmt::format("{{{}, {}, {}}}", side, side, channels);
    }
  }
  return "{height, width, channels}";
}

}  // namespace

std::string text(const Shape& shape) {
  if (shape.rank() == 0) return shape.str();
  std::string out;
  for (const int64_t size : shape) {
    if (!out.empty()) out += 'x';
    out += size == kAny ? "any" : std::to_string(size);
  }
  return out;
}

bool fits(const Shape& given, const Shape& wanted) {
  if (given.rank() != wanted.rank()) return false;
  for (int i = 0; i < given.rank(); ++i)
    if (given[i] != wanted[i] && given[i] != kAny && wanted[i] != kAny) return false;
  return true;
}

int64_t count_or_any(const Shape& shape) {
  for (const int64_t size : shape)
    if (size == kAny) return kAny;
  return shape.count();
}

int64_t known_size(const std::string& kind, const Shape& input, int axis) {
  if (input[axis] != kAny) return input[axis];
  throw Error(fmt::format("{} must know the size of dimension {} (counted from 0) of its input, "
                          "but the shape is {}",
                          kind, axis, text(input)),
              "give this size in Input(...); only sizes that no weight depends on, such as the "
              "steps of a sequence, may be kAny");
}

void require_image(const std::string& kind, const Shape& input) {
  if (input.rank() != 3) {
    throw Error(
        fmt::format("{} needs input of shape height x width x channels, but got {}", kind,
                    text(input)),
        input.rank() < 3 ? fmt::format("add Reshape({}) in front", likely_image(input)) : "");
  }
}

}  // namespace headway
