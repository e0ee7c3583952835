#include <ATen/ATen.h>

#include "headway/train/layers.h"
#include "headway/train/layers/apply_activation.h"
#include "headway/train/layers/shapes.h"
#include "headway/train/layers/window.h"

namespace headway {
namespace {

// libtorch pads both sides alike and rounds the number of windows up or down. Uneven padding needs
// no copy: with a stride of 1 both sides get the larger padding and the first output is dropped,
// with a larger stride both get the smaller padding and the number is rounded up. As in Keras,
// padding is -inf for the maximum and does not count in the average.
struct Edge {
  int64_t padding, dropped;
};

Edge edge(int64_t inputs, int64_t window, int64_t stride, Padding padding) {
  const Slide s = slide(inputs, window, stride, padding);
  if (s.even() || stride > 1) return {s.before, 0};
  return {s.after, 1};
}

// The largest input gives the largest output.
bool is_monotonic(Activation activation) {
  switch (activation.kind()) {
    case Activation::kRelu:
    case Activation::kRelu6:
    case Activation::kLeakyRelu:
    case Activation::kElu:
    case Activation::kSelu:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kSoftplus: return true;
    default: return false;
  }
}

enum class Pool { kMax, kAverage };

class PoolingNode : public LayerNode {
 public:
  PoolingNode(Pool pool, Size2D window, const Pooling2DOptions& options)
      : pool_(pool),
        window_(window),
        strides_(options.strides.value_or(window)),
        padding_(options.padding) {
    require_positive(kind(), "window size", window_);
    require_positive(kind(), "strides", strides_);
  }

  std::string kind() const override {
    return pool_ == Pool::kMax ? "MaxPooling2D" : "AveragePooling2D";
  }

  Shape output_shape(const Shape& input) const override {
    require_image(kind(), input);
    return slide_over(kind(), input, window_, strides_, padding_, input[2]);
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>, const Mode&) const override {
    const Edge rows = edge(x.size(2), window_.height, strides_.height, padding_);
    const Edge columns = edge(x.size(3), window_.width, strides_.width, padding_);
    const at::Tensor y = windows(x, rows.padding, columns.padding);
    if (rows.dropped + columns.dropped == 0) return activate(y, behind_, 1);
    return apply_activation(y.slice(2, rows.dropped).slice(3, columns.dropped), behind_, 1);
  }

  // Only the largest value of a window goes through the activation then.
  std::shared_ptr<const LayerNode> with_activation_behind(Activation activation) const override {
    if (pool_ != Pool::kMax || !is_monotonic(activation)) return nullptr;
    auto copy = std::make_shared<PoolingNode>(*this);
    copy->behind_ = activation;
    return copy;
  }

  double kept_outputs() const override { return pool_ == Pool::kMax ? 3 : 1; }  // int64 indices

 private:
  at::Tensor windows(const at::Tensor& x, int64_t rows, int64_t columns) const {
    const int64_t window[] = {window_.height, window_.width};
    const int64_t strides[] = {strides_.height, strides_.width};
    const bool round_up = padding_ == Padding::kSame;
    if (pool_ == Pool::kMax)
      return at::max_pool2d(x, window, strides, {rows, columns}, 1, round_up);
    return at::avg_pool2d(x, window, strides, {rows, columns}, round_up,
                          /*count_include_pad=*/false);
  }

  Pool pool_;
  Size2D window_, strides_;
  Padding padding_;
  Activation behind_;
};

class GlobalAverageNode : public LayerNode {
 public:
  std::string kind() const override { return "GlobalAveragePooling2D"; }

  Shape output_shape(const Shape& input) const override {
    require_image(kind(), input);
    return {input[2]};
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor>, const Mode&) const override {
    return x.mean({2, 3});
  }
};

}  // namespace

Layer MaxPooling2D(Size2D pool_size, Pooling2DOptions options) {
  return Layer(std::make_shared<PoolingNode>(Pool::kMax, pool_size, options), options.name);
}

Layer AveragePooling2D(Size2D pool_size, Pooling2DOptions options) {
  return Layer(std::make_shared<PoolingNode>(Pool::kAverage, pool_size, options), options.name);
}

Layer GlobalAveragePooling2D(std::string name) {
  return Layer(std::make_shared<GlobalAverageNode>(), std::move(name));
}

}  // namespace headway
