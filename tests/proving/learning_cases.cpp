// The numbers are the trouble.
#include <cmath>
#include <limits>

#include "tests/proving/ground.h"

namespace headway::ground {
namespace {

Model net(std::vector<Layer> layers, Optimizer optimizer,
          Loss loss = SparseCategoricalCrossentropy()) {
  Model model(std::move(layers), {.device = "cpu"});
  model.compile({.optimizer = std::move(optimizer), .loss = std::move(loss)});
  return model;
}

// A little work per step, so that a run lasts long enough to be looked at.
Dataset paced(const Setup& s, double scale = 1) { return rows(s, 512, 256, scale).batch(64); }

std::vector<Layer> stack(int64_t depth, const DenseOptions& options, int64_t width = 128) {
  std::vector<Layer> layers;
  for (int64_t i = 0; i < depth; ++i) layers.push_back(Dense(width, options));
  layers.push_back(Dense(2, {.activation = "softmax"}));
  return layers;
}

void rate_too_high(Setup& s) {
  net(stack(2, {.activation = "relu", .kernel_initializer = "he_normal"}), SGD(20 * s.level))
      .fit(paced(s), for_a_while(s));
}

void rate_too_low(Setup& s) {
  net(stack(2, {.activation = "relu", .kernel_initializer = "he_normal"}), SGD(1e-8 / s.level))
      .fit(paced(s), for_a_while(s));
}

void zero_weights(Setup& s) {
  net(stack(3, {.activation = "relu", .kernel_initializer = "zeros"}), SGD(1e-2))
      .fit(paced(s), for_a_while(s));
}

void constant_weights(Setup& s) {
  net(stack(3, {.activation = "tanh", .kernel_initializer = Initializer::constant(0.01)}),
      SGD(1e-2))
      .fit(paced(s), for_a_while(s));
}

void dead_units(Setup& s) {
  net(stack(3, {.activation = "relu",
                .kernel_initializer = "he_normal",
                .bias_initializer = Initializer::constant(-6 * s.level)}),
      SGD(1e-2))
      .fit(paced(s), for_a_while(s));
}

void unscaled(Setup& s) {
  net(stack(2, {.activation = "relu", .kernel_initializer = "he_normal"}), Adam(1e-3))
      .fit(paced(s, 120 * s.level), for_a_while(s));
}

void exploding(Setup& s) {
  net(stack(8, {.activation = "relu",
                .kernel_initializer = Initializer(Initializer::kRandomNormal, 0.35 * s.level)}),
      SGD(1e-6))
      .fit(paced(s), for_a_while(s));
}

void vanishing(Setup& s) {
  net(stack(static_cast<int64_t>(10 * s.level), {.activation = "sigmoid"}, 64), SGD(1e-2))
      .fit(paced(s), for_a_while(s));
}

void bad_rows(Setup& s) {
  const Dataset data = rows(s, 512, 256).enumerate().map([](Element e) {
    if (e["index"].item<int64_t>() == 7777) {
      e["x"].compact();
      e["x"].values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    }
    return e;
  });
  net(stack(2, {.activation = "relu"}), SGD(1e-2)).fit(data.batch(64), for_a_while(s));
}

void no_rate(Setup& s) {
  net(stack(2, {.activation = "relu"}), SGD(1e-30)).fit(paced(s), for_a_while(s));
}

// Labels that have nothing to do with the samples.
void random_labels(Setup& s) {
  const Dataset data = rows(s, 65536, 32).random_map([](Element e, Random& random) {
    e["y"] = Tensor::scalar<int64_t>(random.uniform() < 0.5f);
    return e;
  });
  net(stack(1, {.activation = "relu"}), SGD(1e-2)).fit(data.batch(64), for_a_while(s));
}

}  // namespace

std::vector<Case> learning_cases() {
  return {
      {"rate-too-high", "learning-rate", rate_too_high, "", "exploding-gradients", false, 1e-3},
      {"rate-too-low", "learning-rate", rate_too_low},
      {"no-rate", "learning-rate", no_rate, "", "weights-not-updated"},
      {"zero-weights", "bad-initial-weights", zero_weights},
      {"constant-weights", "bad-initial-weights", constant_weights},
      {"dead-units", "dead-relu", dead_units},
      {"unscaled", "input-not-scaled", unscaled, "", "", false, 0.01},
      {"exploding", "exploding-gradients", exploding},
      {"vanishing", "vanishing-gradients", vanishing, "", "", false, 0.2},
      {"bad-rows", "nan-loss", bad_rows},
      {"random-labels", "loss-frozen", random_labels},
  };
}

}  // namespace headway::ground
