#include "headway/train/learn/fused_step.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace headway {
namespace {

constexpr int64_t kGrain = 32768;  // values; for fewer, waking threads costs more than they save
constexpr int64_t kNormBlock = 1 << 14;  // values that one thread sums as a block

template <typename T>
T* data_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

template <typename T>
void step_range(const StepTensors& w, const StepFactors& factors, int64_t begin, int64_t end) {
  const StepArrays<T> all{.weight = data_of<T>(w.weight),
                          .gradient = data_of<T>(w.gradient),
                          .first = data_of<T>(w.first),
                          .second = data_of<T>(w.second),
                          .third = data_of<T>(w.third),
                          .gradient_scale = w.gradient_scale};
  apply_step(factors, all.from(begin), end - begin);
}

double block_squares(const at::Tensor& tensor, int64_t begin) {
  const int64_t count = std::min(kNormBlock, tensor.numel() - begin);
  return tensor.scalar_type() == at::kFloat
             ? sum_of_squares(tensor.data_ptr<float>() + begin, count)
             : sum_of_squares(tensor.data_ptr<double>() + begin, count);
}

}  // namespace

bool can_fuse(const at::Tensor& weight) {
  const at::ScalarType type = computed_in(weight.scalar_type());
  return (type == at::kFloat || type == at::kDouble) && weight.device().is_cpu() &&
         weight.layout() == at::kStrided && weight.is_non_overlapping_and_dense();
}

at::ScalarType computed_in(at::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

void step_fused(const std::vector<StepTensors>& weights, const StepFactors& factors) {
  std::vector<int64_t> ends;  // of each weight, as if all were one array
  int64_t total = 0;
  for (const StepTensors& w : weights) ends.push_back(total += w.weight.numel());
  at::parallel_for(0, total, kGrain, [&](int64_t begin, int64_t end) {
    auto i = size_t(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
    for (; begin < end; begin = ends[i++]) {
      const StepTensors& w = weights[i];
      const int64_t start = ends[i] - w.weight.numel();
      const auto step =
          w.weight.scalar_type() == at::kFloat ? step_range<float> : step_range<double>;
      step(w, factors, begin - start, std::min(end, ends[i]) - start);
    }
  });
}

std::vector<double> sums_of_squares(const std::vector<at::Tensor>& tensors) {
  struct Block {
    size_t tensor;
    int64_t begin;
    double sum;
  };
  std::vector<Block> blocks;
  for (size_t i = 0; i < tensors.size(); ++i)
    for (int64_t begin = 0; begin < tensors[i].numel(); begin += kNormBlock)
      blocks.push_back({i, begin, 0});
  at::parallel_for(0, int64_t(blocks.size()), kGrain / kNormBlock, [&](int64_t from, int64_t to) {
    for (Block* b = &blocks[size_t(from)]; from < to; ++from, ++b)
      b->sum = block_squares(tensors[b->tensor], b->begin);
  });
  std::vector<double> sums(tensors.size());
  for (const Block& b : blocks) sums[b.tensor] += b.sum;
  return sums;
}

}  // namespace headway
