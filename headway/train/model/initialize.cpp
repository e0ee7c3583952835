#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/core/error.h"
#include "headway/train/layers/shapes.h"
#include "headway/train/model/network.h"

namespace headway {
namespace {

// Standard deviation of a normal distribution cut off at two deviations; Keras divides by it to
// keep the variance.
constexpr double kTruncatedDeviation = 0.87962566103423978;

struct Draw {
  at::Tensor tensor;
  at::Generator generator;

  at::Tensor uniform(double bound) { return tensor.uniform_(-bound, bound, generator); }
  at::Tensor normal(double deviation) { return tensor.normal_(0, deviation, generator); }
  // By the inverse of the distribution, which takes the same number of draws for every seed.
  at::Tensor truncated_normal(double deviation) {
    const double within = std::erf(std::sqrt(2.0));  // share of values within two deviations
    at::Tensor drawn = tensor.uniform_(-within, within, generator).erfinv_();
    return drawn.mul_(std::sqrt(2.0) * deviation).clamp_(-2 * deviation, 2 * deviation);
  }
};

// Q of a random matrix, made unique by a positive diagonal of R: all rotations are equally likely.
at::Tensor orthogonal_matrix(int64_t rows, int64_t columns, at::Generator generator) {
  const at::Tensor random =
      at::empty({std::max(rows, columns), std::min(rows, columns)}, at::kDouble)
          .normal_(0, 1, generator);
  const auto [q, r] = at::linalg_qr(random);
  const at::Tensor turned = q * at::sign(at::diagonal(r));
  return rows < columns ? turned.t() : turned;
}

// Keras flattens a kernel to (all other axes) x (last axis). Ours has that last axis in front; in a
// depthwise kernel the rows of one such matrix are distributed over the channels.
at::Tensor orthogonal(const WeightSpec& spec, double gain, at::Generator generator) {
  const Shape& shape = spec.shape;
  if (shape.rank() < 2) {
    throw Error(
        fmt::format("the initializer 'orthogonal' needs weights with 2 dimensions or more, but {} "
                    "has shape {}",
                    spec.name, text(shape)),
        "choose another initializer for it, such as 'glorot_uniform' or 'zeros'");
  }
  int64_t field = 1;
  for (int i = 2; i < shape.rank(); ++i) field *= shape[i];
  const int64_t columns = shape.rank() == 2 ? shape[0] : spec.fan_out / field;
  const int64_t spread = shape[0] / columns;
  const int64_t inner = shape.count() / shape[0];
  const at::Tensor matrix = orthogonal_matrix(spread * inner, columns, generator) * gain;
  return matrix.reshape({spread, inner, columns})
      .transpose(1, 2)
      .reshape({shape.begin(), static_cast<size_t>(shape.rank())});
}

at::Tensor fill(const WeightSpec& spec, Draw draw) {
  const Initializer& how = spec.initializer;
  const double in = std::max<double>(1, static_cast<double>(spec.fan_in));
  const double average = std::max(1.0, static_cast<double>(spec.fan_in + spec.fan_out) / 2);
  const double value = how.value();
  const auto bound = [](double variance) { return std::sqrt(3 * variance); };
  const auto deviation = [](double variance) { return std::sqrt(variance) / kTruncatedDeviation; };
  switch (how.kind()) {
    case Initializer::kZeros: return draw.tensor.zero_();
    case Initializer::kOnes: return draw.tensor.fill_(1);
    case Initializer::kConstant: return draw.tensor.fill_(value);
    case Initializer::kGlorotUniform: return draw.uniform(bound(1 / average));
    case Initializer::kGlorotNormal: return draw.truncated_normal(deviation(1 / average));
    case Initializer::kHeUniform: return draw.uniform(bound(2 / in));
    case Initializer::kHeNormal: return draw.truncated_normal(deviation(2 / in));
    case Initializer::kLecunUniform: return draw.uniform(bound(1 / in));
    case Initializer::kLecunNormal: return draw.truncated_normal(deviation(1 / in));
    // Without a gain, as in "orthogonal", it is 1.
    case Initializer::kOrthogonal: return orthogonal(spec, value ? value : 1, draw.generator);
    case Initializer::kRandomNormal: return draw.normal(value ? value : 0.05);
    case Initializer::kRandomUniform: return draw.uniform(value ? value : 0.05);
  }
  return draw.tensor;
}

}  // namespace

at::Tensor initialize(const WeightSpec& spec, at::ScalarType dtype, uint64_t stream) {
  const at::IntArrayRef sizes(spec.shape.begin(), static_cast<size_t>(spec.shape.rank()));
  if (!spec.values.empty()) return at::tensor(spec.values, at::kDouble).reshape(sizes).to(dtype);
  // Half-precision weights are those of a float network, rounded.
  const at::ScalarType drawn = dtype == at::kDouble ? at::kDouble : at::kFloat;
  return fill(spec, {at::empty(sizes, drawn), at::detail::createCPUGenerator(stream)}).to(dtype);
}

}  // namespace headway
