// A loop over all data before fit keeps the first step waiting for the last sample. As a map of the
// pipeline the same function runs on workers, ahead of training and beside it, and the model comes
// out the same (seed example 003-2). Prints:
//
//   loop before fit: 2048 of 2048 samples were ready before training began
//   map:             fewer than 2048: yes
//   the same model, bit for bit: yes
#include <headway/train/train.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>

using namespace headway;

constexpr int64_t kSamples = 2048;

struct Trained {
  int ready = 0;  // samples preprocessed when training began
  Tensor weights;
};

Trained train(const Dataset& rows, const std::atomic<int>& preprocessed) {
  Model model = Sequential(
      {Dense(32, {.activation = "relu"}), Dense(10, {.activation = "softmax"})}, {.device = "cpu"});
  model.compile({.optimizer = Adam(), .loss = SparseCategoricalCrossentropy()});
  Trained out;
  const CallbackPtr note =
      LambdaCallback({.on_train_begin = [&](Training&) { out.ready = preprocessed; }});
  const History history =
      model.fit(rows.batch(32).prefetch(2), {.callbacks = {note}, .threads = {.intra_op = 1}});
  std::fprintf(stderr, "first batch after %.4f s\n", history.first_batch_s);
  out.weights = model.weight("dense.weight");
  return out;
}

int main() {
  Random random(1, 0, 0, 0);
  Tensor x = Tensor::empty(DType::kFloat32, {kSamples, 784});
  Tensor y = Tensor::empty(DType::kInt64, {kSamples});
  for (float& v : x.values<float>()) v = random.uniform();
  for (int64_t i = 0; i < kSamples; ++i) y.values<int64_t>()[i] = i % 10;

  std::atomic<int> preprocessed = 0;
  const auto square_roots = [&](const Tensor& row) {
    Tensor out = Tensor::empty(DType::kFloat32, row.shape());
    for (int64_t i = 0; i < row.count(); ++i)
      out.values<float>()[i] = std::sqrt(row.values<float>()[i]);
    ++preprocessed;
    return out;
  };

  const Dataset lazily = from_tensor_slices({{"x", x}, {"y", y}}).map([&](Element e) {
    e.set("x", square_roots(e["x"]));
    return e;
  });
  const Trained mapped = train(lazily, preprocessed);

  preprocessed = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const Tensor root = square_roots(x.row(i));
    std::copy_n(root.values<float>().data(), 784, x.row(i).values<float>().data());
  }
  const Trained looped = train(from_tensor_slices({{"x", x}, {"y", y}}), preprocessed);

  std::printf("loop before fit: %d of %ld samples were ready before training began\n", looped.ready,
              long(kSamples));
  const bool early = mapped.ready < kSamples;
  std::printf("map:             fewer than %ld: %s\n", long(kSamples), early ? "yes" : "no");
  const bool same = mapped.weights.same(looped.weights);
  std::printf("the same model, bit for bit: %s\n", same ? "yes" : "no");
  return looped.ready == kSamples && early && same ? 0 : 1;
}
