// What a step of Adam costs: our fused pass, libtorch's foreach kernels, the usual chain of tensor
// operations, and the bare memory: 28 bytes a weight have to move (weight, gradient and two moments
// in; weight and moments out), at the rate at which memcpy moves bytes here.
//
//   optimizer_bench [--threads 2] [--sizes 100000 10000000 138000000] [--json]
//
// Ways take turns in every round; the times are medians. More than 100% of memory: memcpy fetches
// the lines it overwrites unless it copies much, a step has read them anyway.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "headway/core/clock.h"
#include "headway/core/median.h"
#include "headway/train/learn/foreach_step.h"
#include "headway/train/learn/optimizer_state.h"

using namespace headway;

namespace {

constexpr int kTensors = 16;
constexpr int64_t kBytesPerWeight = 7 * sizeof(float);
constexpr double kRate = 1e-3, kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-7;

std::vector<at::Tensor> weights_of(int64_t count) {
  std::vector<at::Tensor> weights;
  for (int i = 0; i < kTensors; ++i) {
    const int64_t size = count / kTensors + (i < count % kTensors);
    weights.push_back(at::empty({size}).uniform_(-1, 1));
    weights.back().mutable_grad() = at::empty({size}).uniform_(-1, 1);
  }
  return weights;
}

std::vector<StepTensors> with_moments(const std::vector<at::Tensor>& weights) {
  std::vector<StepTensors> tensors;
  for (const at::Tensor& w : weights)
    tensors.push_back({.weight = w,
                       .gradient = w.grad(),
                       .first = at::zeros_like(w),
                       .second = at::zeros_like(w),
                       .third = {}});
  return tensors;
}

// As an optimizer is written where tensors are all there is.
void step_by_operations(std::vector<StepTensors>& weights, int64_t step) {
  const double correction_1 = 1 - std::pow(kBeta1, double(step));
  const double correction_2 = std::sqrt(1 - std::pow(kBeta2, double(step)));
  for (StepTensors& t : weights) {
    t.first.mul_(kBeta1).add_(t.gradient, 1 - kBeta1);
    t.second.mul_(kBeta2).addcmul_(t.gradient, t.gradient, 1 - kBeta2);
    const at::Tensor spread = (t.second.sqrt() / correction_2).add_(kEpsilon);
    t.weight.addcdiv_(t.first, spread, -kRate / correction_1);
  }
}

// Moves `size_bytes` (half of them read, half written) by memcpy on each thread's part.
class Memory {
 public:
  Memory(int64_t size_bytes, int threads)
      : part_(size_t(size_bytes / 2 / threads)), from_(part_ * size_t(threads)), to_(from_.size()) {
    // Written once, so that every page is there.
    std::fill(from_.begin(), from_.end(), char(1));
    std::fill(to_.begin(), to_.end(), char(2));
  }

  double seconds(int repeats) {
    const int64_t start = now_ns();
    std::vector<std::thread> threads;
    for (size_t at = 0; at < from_.size(); at += part_)
      threads.emplace_back([this, at, repeats] {
        for (int i = 0; i < repeats; ++i) std::memcpy(&to_[at], &from_[at], part_);
      });
    for (std::thread& thread : threads) thread.join();
    return double(now_ns() - start) * 1e-9 / repeats;
  }

 private:
  size_t part_;
  std::vector<char> from_, to_;
};

double seconds_of(const std::function<void()>& step, int repeats) {
  const int64_t start = now_ns();
  for (int i = 0; i < repeats; ++i) step();
  return double(now_ns() - start) * 1e-9 / repeats;
}

struct Times {
  double fused, foreach, operations, memory;  // seconds per step
};

Times measure(int64_t count, int threads) {
  const auto weights = weights_of(count);
  OptimizerState fused(Adam(kRate), weights);
  auto foreach = with_moments(weights_of(count)), operations = with_moments(weights_of(count));
  const StepFactors factors{.rule = StepRule::kAdam,
                            .rate = kRate,
                            .beta_1 = kBeta1,
                            .beta_2 = kBeta2,
                            .epsilon = kEpsilon};
  Memory memory(count * kBytesPerWeight, threads);
  int64_t steps = 0;
  const int repeats = int(std::clamp<int64_t>(20'000'000 / count, 1, 200));
  std::vector<double> a, b, c, d;
  for (int round = 0; round < 7; ++round) {
    a.push_back(seconds_of([&] { fused.step(); }, repeats));
    b.push_back(seconds_of([&] { step_foreach(foreach, factors); }, repeats));
    c.push_back(seconds_of([&] { step_by_operations(operations, ++steps); }, repeats));
    d.push_back(memory.seconds(repeats));
  }
  return {median(a), median(b), median(c), median(d)};
}

void report(int64_t count, const Times& t, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", nlohmann::json{{"parameters", count},
                                      {"fused_ms", t.fused * 1e3},
                                      {"foreach_ms", t.foreach * 1e3},
                                      {"operations_ms", t.operations * 1e3},
                                      {"memory_ms", t.memory * 1e3}}
                           .dump());
    return;
  }
  fmt::print("{:>12} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>9.2f}x {:>9.2f}x {:>8.0f}%\n",
             count, t.fused * 1e3, t.foreach * 1e3, t.operations * 1e3, t.memory * 1e3,
             t.foreach / t.fused, t.operations / t.fused, 100 * t.memory / t.fused);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Adam: one fused pass against chains of operations and the speed of memory.");
  int threads = at::get_num_threads();
  std::vector<int64_t> sizes = {100'000, 10'000'000, 138'000'000};
  bool as_json = false;
  app.add_option("--threads", threads);
  app.add_option("--sizes", sizes, "parameters");
  app.add_flag("--json", as_json);
  CLI11_PARSE(app, argc, argv);

  const c10::NoGradGuard no_grad;
  at::set_num_threads(threads);
  if (!as_json) {
    fmt::print("Adam, float32, {} threads; milliseconds per step\n", threads);
    fmt::print("{:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "parameters", "fused",
               "foreach", "operations", "memory", "foreach/", "operat./", "of memory");
  }
  for (int64_t count : sizes) report(count, measure(count, threads), as_json);
}
