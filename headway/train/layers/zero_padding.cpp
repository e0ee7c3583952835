#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

int64_t grown(int64_t size, int64_t padding) { return size == kAny ? kAny : size + 2 * padding; }

class ZeroPaddingNode : public LayerNode {
 public:
  explicit ZeroPaddingNode(Size2D padding) : padding_(padding) {
    if (padding.height < 0 || padding.width < 0) {
      throw Error(
          fmt::format("ZeroPadding2D: invalid padding {}x{}", padding.height, padding.width),
          "both must be 0 or more");
    }
  }

  std::string kind() const override { return "ZeroPadding2D"; }

  Shape output_shape(const Shape& input) const override {
    require_image(kind(), input);
    return {grown(input[0], padding_.height), grown(input[1], padding_.width), input[2]};
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>, const Mode&) const override {
    const int64_t rows = padding_.height, columns = padding_.width;
    return at::constant_pad_nd(x, {columns, columns, rows, rows}, 0);
  }

 private:
  Size2D padding_;
};

}  // namespace

Layer ZeroPadding2D(Size2D padding, std::string name) {
  return Layer(std::make_shared<ZeroPaddingNode>(padding), std::move(name));
}

}  // namespace headway
