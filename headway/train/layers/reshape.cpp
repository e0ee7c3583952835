#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/axes.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

class InputNode : public LayerNode {
 public:
  explicit InputNode(const Shape& shape) : shape_(shape) {
    for (const int64_t size : shape)
      if (size != kAny && size < 1)
        throw Error(fmt::format("Input: invalid shape {}", text(shape)),
                    "sizes must be at least 1, or kAny where the size differs from batch to batch");
  }

  std::string kind() const override { return "Input"; }

  Shape output_shape(const Shape& input) const override {
    if (input.rank() > 0 && !fits(input, shape_)) {
      throw Error(fmt::format("the model's Input has shape {}, but the samples have shape {}",
                              text(shape_), text(input)),
                  "change the shape in Input(...), or resize the samples in the dataset");
    }
    return shape_;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>, const Mode&) const override {
    return x;
  }

  double kept_outputs() const override { return 0; }

 private:
  Shape shape_;
};

class ReshapeNode : public LayerNode {
 public:
  ReshapeNode(std::string kind, const Shape& shape) : kind_(std::move(kind)), shape_(shape) {
    const bool sizes = std::all_of(shape.begin(), shape.end(),
                                   [](int64_t size) { return size > 0 || size == kAny; });
    if (!sizes || std::count(shape.begin(), shape.end(), kAny) > 1) {
      throw Error(fmt::format("{}: invalid shape {}", kind_, text(shape)),
                  "sizes must be at least 1; at most one may be kAny");
    }
  }

  std::string kind() const override { return kind_; }

  Shape output_shape(const Shape& input) const override {
    const int64_t count = count_or_any(input);
    const auto free = std::find(shape_.begin(), shape_.end(), kAny);
    if (count == kAny) return shape_;
    int64_t fixed = 1;
    for (const int64_t size : shape_) fixed *= size == kAny ? 1 : size;
    const bool all_fixed = free == shape_.end();
    if (all_fixed ? fixed != count : count % fixed != 0) {
      throw Error(
          fmt::format("{} cannot turn {} into {}: {} values are not {}{}", kind_, text(input),
                      text(shape_), count, all_fixed ? "" : "a multiple of ", fixed),
          "the number of values in a sample must stay the same");
    }
    Shape output = shape_;
    if (free != shape_.end()) output[static_cast<int>(free - shape_.begin())] = count / fixed;
    return output;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>, const Mode&) const override {
    std::vector<int64_t> sizes{x.size(0)};
    sizes.insert(sizes.end(), shape_.begin(), shape_.end());
    // A view while images are in channels-last memory.
    return channels_first(channels_last(x).reshape(sizes));
  }

  double kept_outputs() const override { return 0; }

 private:
  std::string kind_;
  Shape shape_;
};

}  // namespace

Layer Input(Shape shape) { return Layer(std::make_shared<InputNode>(shape)); }

Layer Flatten(std::string name) {
  return Layer(std::make_shared<ReshapeNode>("Flatten", Shape{kAny}), std::move(name));
}

Layer Reshape(Shape shape, std::string name) {
  return Layer(std::make_shared<ReshapeNode>("Reshape", shape), std::move(name));
}

}  // namespace headway
