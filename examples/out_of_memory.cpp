// Does the model fit in memory? The sum is made before anything is allocated: a model of 10^10
// weights is not "slow to initialise", it is refused (seed example 001-2), and three layers of 1024
// are far from exhausting anything (003-3). Prints:
//
//   refused: sequential does not fit: 10 G parameters take 40.0 GB of weights + 40.0 GB of
//   gradients
//            + 80.1 GB of optimizer = 160.2 GB
//   Total params: 2,913,290 (11.7 MB)
//   Memory: weights 11.7 MB, gradients 11.7 MB, optimizer 23.3 MB (adam, learning rate 0.001), ...
//   it fits and trains: yes
#include <headway/train/train.h>

#include <cmath>
#include <cstdio>
#include <sstream>

using namespace headway;

Model wide(int64_t units, int64_t inputs, int hidden) {
  std::vector<Layer> layers{Input({inputs})};
  for (int i = 0; i < hidden; ++i) layers.push_back(Dense(units, {.activation = "relu"}));
  layers.push_back(Dense(10, {.activation = "softmax"}));
  Model model = Sequential(std::move(layers), {.device = "cpu"});
  model.compile({.optimizer = Adam(), .loss = SparseCategoricalCrossentropy()});
  return model;
}

// Why it cannot be built; empty when it can.
std::string refusal(Model& model, const Shape& input) {
  try {
    model.build(input);
    return "";
  } catch (const Error& e) {
    return e.problem();
  }
}

int main() {
  if (free_memory_bytes("cpu") > 160e9) {
    std::printf("10^10 weights fit on this machine: nothing to show\n");
    return 77;
  }
  Model huge = wide(100'000, 100, 2);
  const std::string problem = refusal(huge, {100});
  std::printf("refused: %s\n", problem.substr(0, problem.find(';')).c_str());
  const bool refused = !huge.built() && problem.find("= 160.2 GB") != std::string::npos;

  Model modest = wide(1024, 784, 3);
  std::istringstream summary(modest.summary({.batch_size = 32}));
  for (std::string line; std::getline(summary, line);)
    if (line.find("Total") == 0 || line.find("Memory") == 0) std::printf("%s\n", line.c_str());

  Tensor x = Tensor::empty(DType::kFloat32, {64, 784});
  Tensor y = Tensor::empty(DType::kInt64, {64});
  for (int64_t i = 0; i < x.count(); ++i) x.values<float>()[i] = float(i % 17) / 17;
  for (int64_t i = 0; i < y.count(); ++i) y.values<int64_t>()[i] = i % 10;
  const History history = modest.fit(x, y, {.epochs = 2, .threads = {.intra_op = 1}});
  const bool trained = history.steps == 4 && std::isfinite(history.epochs.back()["loss"]);
  std::printf("it fits and trains: %s\n", trained ? "yes" : "no");
  return refused && modest.parameter_count() == 2'913'290 && trained ? 0 : 1;
}
