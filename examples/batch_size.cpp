// A batch of 1 asks for a step per sample; a batch of 32 sees the same samples in a 32nd of the
// steps, each of which costs little more. How much that gains here is in the time tables on
// standard error (seed example 003-1). Prints:
//
//   batch  1: 640 steps for 640 samples
//   batch 32: 20 steps for 640 samples
#include <headway/train/train.h>

#include <cstdio>

using namespace headway;

constexpr int64_t kSamples = 640;

History train(const Tensor& x, const Tensor& y, int64_t batch_size) {
  Model model = Sequential(
      {Input({784}), Dense(128, {.activation = "relu"}), Dense(10, {.activation = "softmax"})});
  model.compile({.optimizer = Adam(), .loss = CategoricalCrossentropy(), .metrics = {Accuracy()}});
  const History history = model.fit(
      x, y, {.batch_size = batch_size, .threads = {.intra_op = 1}, .show = Show::kNothing});
  std::printf("batch %2ld: %ld steps for %ld samples\n", long(batch_size), long(history.steps),
              long(history.samples));
  std::fprintf(stderr, "%s", history.time_table().c_str());
  return history;
}

int main() {
  Random random(1, 0, 0, 0);
  Tensor x = Tensor::empty(DType::kFloat32, {kSamples, 784});
  Tensor y = Tensor::empty(DType::kFloat32, {kSamples, 10});  // one-hot
  for (float& v : x.values<float>()) v = random.uniform();
  for (int64_t i = 0; i < y.count(); ++i) y.values<float>()[i] = i % 10 == i / 10 % 10 ? 1 : 0;

  const History one = train(x, y, 1), many = train(x, y, 32);
  std::fprintf(stderr, "the batch of 32 trained %.1f times as many samples per second\n",
               many.samples_per_s() / one.samples_per_s());
  return one.steps == 640 && many.steps == 20 && one.samples == many.samples ? 0 : 1;
}
