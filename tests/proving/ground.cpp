#include "tests/proving/ground.h"

#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "headway/core/error.h"

namespace headway::ground {

namespace {

// The numbers of a row; true when their sum is above 0.
bool fill(float* x, uint64_t seed, uint64_t number, int64_t width, double scale) {
  Random random(seed, 0, number, 0);
  float sum = 0;
  for (int64_t j = 0; j < width; ++j) {
    const float value = random.normal();
    sum += value;
    x[j] = static_cast<float>(scale) * value;
  }
  return sum > 0;
}

}  // namespace

Dataset rows(const Setup& setup, int64_t count, int64_t width, double scale) {
  Tensor x = Tensor::empty(DType::kFloat32, {count, width});
  Tensor y = Tensor::empty(DType::kInt64, {count});
  for (int64_t i = 0; i < count; ++i) {
    y.values<int64_t>()[i] = fill(x.values<float>().data() + i * width, setup.seed + 1,
                                  static_cast<uint64_t>(i), width, scale);
  }
  return from_tensor_slices({{"x", x}, {"y", y}}).repeat();
}

Element row(uint64_t number, int64_t width, double scale) {
  Tensor x = Tensor::empty(DType::kFloat32, {width});
  const bool above = fill(x.values<float>().data(), 1, number, width, scale);
  Element e;
  e.set("x", std::move(x));
  e.set("y", Tensor::scalar<int64_t>(above));
  return e;
}

Model dense_model(int64_t width, int64_t depth, Optimizer optimizer) {
  std::vector<Layer> layers;
  for (int64_t i = 0; i < depth; ++i) {
    layers.push_back(Dense(width, {.activation = "relu", .kernel_initializer = "he_normal"}));
  }
  layers.push_back(Dense(2, {.activation = "softmax"}));
  Model model(layers, {.device = "cpu"});
  model.compile({.optimizer = std::move(optimizer), .loss = SparseCategoricalCrossentropy()});
  return model;
}

FitOptions steps(const Setup& setup, int64_t count) {
  FitOptions fit = setup.fit;
  fit.steps_per_epoch = count;
  return fit;
}

// By the thread's own clock: a neighbour makes it longer, not easier.
void compute_for(double seconds) {
  const auto spent = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  };
  const double until = spent() + seconds;
  volatile uint64_t x = 1;
  while (spent() < until) {
    for (int i = 0; i < 1000; ++i) x = x * 6364136223846793005u + 1;
  }
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

static void run_headway(const std::string& words) {
  const std::string command =
      fmt::format("env -u LD_PRELOAD {} {} >/dev/null 2>&1", HEADWAY, words);
  if (std::system(command.c_str()) != 0) throw Error("it failed: " + command);
}

std::string drawn_images(const Setup& setup, int64_t count, int64_t side, const char* format,
                         const char* name) {
  const std::string folder = setup.folder + "/" + name;
  run_headway(fmt::format("make-data --out {} --count {} --width {} --height {} --format {}",
                          folder, count, side, side, format));
  return folder;
}

std::string packed(const std::string& folder) {
  const std::string shards = folder + "-packed";
  run_headway(fmt::format("convert {} {}", folder, shards));
  return shards;
}

}  // namespace headway::ground
