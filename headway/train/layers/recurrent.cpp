#include <ATen/ATen.h>
#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/train/layers.h"
#include "headway/train/layers/shapes.h"

namespace headway {
namespace {

enum class Cell { kLstm, kGru };

bool is_constant(const Initializer& initializer) {
  return initializer.kind() == Initializer::kZeros || initializer.kind() == Initializer::kOnes ||
         initializer.kind() == Initializer::kConstant;
}

double constant_of(const Initializer& initializer) {
  return initializer.kind() == Initializer::kOnes ? 1 : initializer.value();
}

// Gates are in libtorch's order: input, forget, cell, output (LSTM); reset, update, new (GRU). As
// in Keras, an LSTM has one bias, a GRU two (for the input and for the state).
class RecurrentNode : public LayerNode {
 public:
  RecurrentNode(Cell cell, int64_t units, RecurrentOptions options)
      : cell_(cell), units_(units), options_(std::move(options)) {
    if (units < 1)
      throw Error(fmt::format("{}: invalid units {}", kind(), units), "units must be at least 1");
    if (forget_bias_is_one() && !is_constant(options_.bias_initializer)) {
      throw Error(fmt::format("{}: bias_initializer '{}' cannot be used with unit_forget_bias",
                              kind(), options_.bias_initializer.name()),
                  "set unit_forget_bias = false, or use a constant bias_initializer");
    }
  }

  std::string kind() const override { return cell_ == Cell::kLstm ? "LSTM" : "GRU"; }

  Shape output_shape(const Shape& input) const override {
    if (input.rank() != 2) {
      throw Error(
          fmt::format("{} needs input of shape steps x features, but got {}", kind(), text(input)),
          "after a recurrent layer: set its return_sequences = true; for indices: add Embedding in "
          "front; for a series of numbers: add Reshape({steps, 1}) in front");
    }
    known_size(kind(), input, 1);
    const int64_t outputs = units_ * directions();
    return options_.return_sequences ? Shape{input[0], outputs} : Shape{outputs};
  }

  std::vector<WeightSpec> weights(const Shape& input) const override {
    std::vector<WeightSpec> weights;
    for (int i = 0; i < directions(); ++i)
      add_direction(input[1], i == 0 ? "" : "_reverse", weights);
    return weights;
  }

  at::Tensor forward(const at::Tensor& x, std::span<const at::Tensor> weights,
                     const Mode& mode) const override {
    const std::vector<at::Tensor> given = arguments(weights);
    const at::Tensor start = at::zeros({directions(), x.size(0), units_}, x.options());
    at::Tensor all, last;
    if (cell_ == Cell::kLstm) {
      std::tie(all, last, std::ignore) =
          at::lstm(x, {start, start}, given, options_.use_bias, 1, 0.0, mode.training,
                   options_.bidirectional, /*batch_first=*/true);
    } else {
      std::tie(all, last) = at::gru(x, start, given, options_.use_bias, 1, 0.0, mode.training,
                                    options_.bidirectional, /*batch_first=*/true);
    }
    if (options_.return_sequences) return all;
    return last.transpose(0, 1).reshape({x.size(0), directions() * units_});
  }

  double kept_outputs() const override { return 8; }  // gates, states and their functions

 private:
  int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  int64_t gates() const { return (cell_ == Cell::kLstm ? 4 : 3) * units_; }
  bool forget_bias_is_one() const {
    return cell_ == Cell::kLstm && options_.use_bias && options_.unit_forget_bias;
  }

  void add_direction(int64_t inputs, const std::string& suffix,
                     std::vector<WeightSpec>& weights) const {
    weights.push_back({.name = "weight_ih" + suffix,
                       .shape = {gates(), inputs},
                       .initializer = options_.kernel_initializer,
                       .fan_in = inputs,
                       .fan_out = gates(),
                       .regularizer = options_.kernel_regularizer});
    weights.push_back({.name = "weight_hh" + suffix,
                       .shape = {gates(), units_},
                       .initializer = options_.recurrent_initializer,
                       .fan_in = units_,
                       .fan_out = gates(),
                       .regularizer = options_.recurrent_regularizer});
    if (!options_.use_bias) return;
    if (cell_ == Cell::kLstm) return weights.push_back(bias("bias" + suffix));
    weights.push_back(bias("bias_ih" + suffix));
    weights.push_back(bias("bias_hh" + suffix));
  }

  WeightSpec bias(const std::string& name) const {
    WeightSpec spec{.name = name,
                    .shape = {gates()},
                    .initializer = options_.bias_initializer,
                    .fan_in = gates(),
                    .fan_out = gates()};
    if (!forget_bias_is_one()) return spec;
    spec.values.assign(gates(), constant_of(options_.bias_initializer));
    std::fill_n(spec.values.begin() + units_, units_, 1.0);
    return spec;
  }

  // libtorch's LSTM adds two biases. The second is a constant zero: if it were a weight, it would
  // get the same gradient as the first, and every update would count twice.
  std::vector<at::Tensor> arguments(std::span<const at::Tensor> weights) const {
    std::vector<at::Tensor> out;
    const size_t each = weights.size() / directions();
    for (size_t i = 0; i < weights.size(); ++i) {
      out.push_back(weights[i]);
      const bool last = (i + 1) % each == 0;
      if (last && cell_ == Cell::kLstm && options_.use_bias)
        out.push_back(at::zeros_like(weights[i]));
    }
    return out;
  }

  Cell cell_;
  int64_t units_;
  RecurrentOptions options_;
};

Layer recurrent(Cell cell, int64_t units, RecurrentOptions options) {
  std::string name = options.name;
  return Layer(std::make_shared<RecurrentNode>(cell, units, std::move(options)), std::move(name));
}

}  // namespace

Layer LSTM(int64_t units, RecurrentOptions options) {
  return recurrent(Cell::kLstm, units, std::move(options));
}

Layer GRU(int64_t units, RecurrentOptions options) {
  return recurrent(Cell::kGru, units, std::move(options));
}

}  // namespace headway
