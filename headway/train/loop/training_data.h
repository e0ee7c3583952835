#pragma once

#include <cstdint>

#include "headway/train/train.h"

// For the tests of this room: small data that can be learnt.
namespace headway::testing {

struct Rows {
  Tensor x, y;
};

// 20 numbers each; the label says whether their sum is positive.
inline Rows signs(int64_t count, uint64_t seed = 1) {
  Rows rows{Tensor::empty(DType::kFloat32, {count, 20}), Tensor::empty(DType::kInt64, {count})};
  for (int64_t i = 0; i < count; ++i) {
    Random random(seed, 0, static_cast<uint64_t>(i), 0);
    float sum = 0;
    for (int j = 0; j < 20; ++j) sum += rows.x.values<float>()[i * 20 + j] = random.normal();
    rows.y.values<int64_t>()[i] = sum > 0;
  }
  return rows;
}

inline Dataset batches(const Rows& rows, int64_t size = 10) {
  return from_tensor_slices({{"x", rows.x}, {"y", rows.y}}).shuffle().batch(size);
}

inline Model small_model(uint64_t seed = 0, double learning_rate = 1e-2) {
  Model model = Sequential(
      {Dense(16, {.activation = "relu"}), Dropout(0.1), Dense(2, {.activation = "softmax"})},
      {.device = "cpu", .seed = seed});
  model.compile({.optimizer = Adam(learning_rate),
                 .loss = SparseCategoricalCrossentropy(),
                 .metrics = {Accuracy()}});
  return model;
}

// fit() that shows nothing, on one thread: these models are too small for more.
inline FitOptions quiet(int64_t epochs) {
  return {.epochs = epochs, .threads = {.intra_op = 1, .input = 1}, .show = Show::kNothing};
}

inline bool same_weights(const Model& a, const Model& b) {
  for (const std::string& name : a.weight_names()) {
    if (!a.weight(name).same(b.weight(name))) return false;
  }
  return true;
}

// What an Error says, problem and hint; empty when nothing was thrown.
template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace headway::testing
