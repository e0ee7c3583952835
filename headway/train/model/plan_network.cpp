#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cctype>
#include <set>

#include "headway/core/error.h"
#include "headway/train/model/network.h"

namespace headway {
namespace {

bool is_input(const Layer& layer) { return layer.node().kind() == "Input"; }

// "MaxPooling2D" -> "max_pooling2d", as Keras names a layer after its class.
std::string snake_case(const std::string& kind) {
  const auto upper = [&](size_t i) { return i < kind.size() && std::isupper(kind[i]); };
  const auto lower = [&](size_t i) { return i < kind.size() && std::islower(kind[i]); };
  std::string out;
  for (size_t i = 0; i < kind.size(); ++i) {
    if (i > 0 && upper(i) && (lower(i - 1) || lower(i + 1))) out += '_';
    out += static_cast<char>(std::tolower(kind[i]));
  }
  return out;
}

class Names {
 public:
  explicit Names(const std::vector<Layer>& layers) {
    for (const Layer& layer : layers) {
      if (layer.name().empty() || taken_.insert(layer.name()).second) continue;
      throw Error(fmt::format("two layers are called '{}'", layer.name()),
                  "give each layer its own name, or none: then names are made");
    }
  }

  std::string of(const Layer& layer) {
    if (!layer.name().empty()) return layer.name();
    const std::string base = snake_case(layer.node().kind());
    std::string name = base;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

LayerPlan plan_layer(const Layer& layer, const std::string& name, const Shape& input) {
  try {
    const Shape output = layer.node().output_shape(input);
    const auto planned = layer.node().planned(input);
    return {Layer(planned ? planned : layer.shared_node(), name), input, output,
            layer.node().weights(input)};
  } catch (const Error& error) {
    throw error.within(name);
  }
}

}  // namespace

int64_t LayerPlan::weight_count(bool trainable) const {
  int64_t count = 0;
  for (const WeightSpec& spec : weights)
    if (spec.trainable == trainable) count += spec.shape.count();
  return count;
}

std::vector<LayerPlan> plan_network(const std::vector<Layer>& layers, const Shape& input) {
  Names names(layers);
  std::vector<LayerPlan> plan;
  Shape shape = input;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (is_input(layers[i]) && i > 0) {
      throw Error(fmt::format("Input must be the first layer, {} layers are before it", i),
                  "move it to the front");
    }
    if (is_input(layers[i])) {
      shape = layers[i].node().output_shape(input);
      continue;
    }
    plan.push_back(plan_layer(layers[i], names.of(layers[i]), shape));
    shape = plan.back().output;
  }
  if (plan.empty()) throw Error("the model has no layers", "add a layer, such as Dense(10)");
  return plan;
}

}  // namespace headway
