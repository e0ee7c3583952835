// Chapter 3 of the guide: a training that waits for one slow function, before and after the cure.
#include <headway/doctor/diagnose.h>
#include <headway/train/train.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

using namespace headway;

// Stands for a lookup in a database: 1 ms of waiting for each sample.
Element look_up(Element sample) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return sample;
}

Dataset samples() {
  Random random(1, 0, 0, 0);
  Tensor x = Tensor::empty(DType::kFloat32, {2000, 20});
  Tensor y = Tensor::empty(DType::kInt64, {2000});
  for (float& value : x.values<float>()) value = random.normal();
  for (int64_t i = 0; i < 2000; ++i) y.values<int64_t>()[i] = x.row(i).values<float>()[0] > 0;
  return from_tensor_slices({{"x", x}, {"y", y}});
}

Model network() {
  Model model =
      Sequential({Dense(1024, {.activation = "relu"}), Dense(1024, {.activation = "relu"}),
                  Dense(1024, {.activation = "relu"}), Dense(2, {.activation = "softmax"})},
                 {.device = "cpu"});
  model.compile({.optimizer = Adam(1e-3), .loss = SparseCategoricalCrossentropy()});
  return model;
}

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: why_slow slow|cured TRACE"), 2;
  const bool cured = std::strcmp(argv[1], "cured") == 0;
  MapOptions options{.name = "look_up"};
  if (!cured) options.num_parallel_calls = 1;
  const Dataset batches = samples().map(look_up, options).batch(50).with_options({.threads = 64});

  const History history =
      network().fit(batches, {.epochs = cured ? 30 : 3, .show = Show::kNothing, .trace = argv[2]});
  const std::vector<Finding> findings = diagnose(*history.trace);
  std::puts(verdict(*history.trace, findings).sentence.c_str());
  if (has_problem(findings))
    std::printf("%s: %s\n", findings[0].id().c_str(), findings[0].fix.c_str());
}
