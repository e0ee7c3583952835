#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/axes.h"

namespace headway {
namespace {

class EmbeddingNode : public LayerNode {
 public:
  EmbeddingNode(int64_t rows, int64_t size, EmbeddingOptions options)
      : rows_(rows), size_(size), options_(std::move(options)) {
    if (rows < 1 || size < 1) {
      throw Error(fmt::format("Embedding: invalid input_dim {} or output_dim {}", rows, size),
                  "both must be at least 1");
    }
  }

  std::string kind() const override { return "Embedding"; }
  bool takes_indices() const override { return true; }

  Shape output_shape(const Shape& input) const override {
    std::vector<int64_t> sizes(input.begin(), input.end());
    sizes.push_back(size_);
    return Shape(sizes);
  }

  std::vector<WeightSpec> weights(const Shape&) const override {
    return {{.name = "weight",
             .shape = {rows_, size_},
             .initializer = options_.embeddings_initializer,
             .fan_in = rows_,
             .fan_out = size_,
             .regularizer = options_.embeddings_regularizer}};
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode&) const override {
    const at::Tensor indices = channels_last(x).to(at::kLong);
    // On a GPU the check would wait for it; there libtorch's own assertion reports the error.
    if (indices.is_cpu() && indices.numel() > 0) check(indices);
    return channels_first(at::embedding(weights[0], indices));
  }

 private:
  void check(const at::Tensor& indices) const {
    const auto smallest = indices.min().item<int64_t>();
    const auto largest = indices.max().item<int64_t>();
    if (smallest >= 0 && largest < rows_) return;
    throw Error(fmt::format("Embedding has {} vectors, but the batch has index {}", rows_,
                            smallest < 0 ? smallest : largest),
                smallest >= 0 ? fmt::format("give Embedding an input_dim of {} or more (the "
                                            "largest index + 1), or correct the data",
                                            largest + 1)
                              : "indices start at 0: correct the data");
  }

  int64_t rows_, size_;
  EmbeddingOptions options_;
};

}  // namespace

Layer Embedding(int64_t input_dim, int64_t output_dim, EmbeddingOptions options) {
  std::string name = options.name;
  return Layer(std::make_shared<EmbeddingNode>(input_dim, output_dim, std::move(options)),
               std::move(name));
}

}  // namespace headway
