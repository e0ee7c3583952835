// What it costs to be watched: one training in which the recorder, the vital signs and the trace
// file are on and off in turns of a few milliseconds, so that a neighbour or a warm processor
// slows both alike.
//
//   doctor_overhead [--models small,medium] [--device cpu] [--seconds 90] [--json]
//
// Of every four turns two are watched; the figure is the (geometric) mean ratio of their time per
// step to that of the other two, with the error of that mean.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "headway/core/clock.h"
#include "headway/train/train.h"

namespace headway::bench {
namespace {

constexpr int64_t kTurnNs = 15'000'000;
constexpr double kWarmUp = 3;  // seconds: the first looks of a run come at once

Dataset samples(const Shape& shape, int64_t batch) {
  Tensor x = Tensor::empty(DType::kFloat32, shape);
  const int64_t count = shape[0];
  Tensor y = Tensor::empty(DType::kInt64, {count});
  Random random(1, 0, 0, 0);
  for (float& value : x.values<float>()) value = static_cast<float>(random.normal());
  for (int64_t i = 0; i < count; ++i) y.values<int64_t>()[i] = i % 2;
  return from_tensor_slices({{"x", x}, {"y", y}}).repeat().shuffle().batch(batch);
}

std::vector<Layer> dense(int64_t width) {
  return {Dense(width, {.activation = "relu"}), Dense(width, {.activation = "relu"}),
          Dense(2, {.activation = "softmax"})};
}

struct Subject {
  std::vector<Layer> layers;
  Dataset data;
};

Subject subject(const std::string& name) {
  if (name == "small") return {dense(128), samples({4096, 784}, 32)};
  if (name == "medium") return {dense(1024), samples({2048, 784}, 128)};
  return {applications::resnet50_layers(), samples({128, 224, 224, 3}, 64)};
}

// Switches watching on and off, and keeps what a step took meanwhile.
class Turns : public Callback {
 public:
  explicit Turns(double seconds) : seconds_(seconds) {}

  std::string name() const override { return "turns"; }
  bool wants_batches() const override { return true; }
  void on_train_begin(Training&) override { run_began_ = turn_began_ = now_ns(); }

  void on_batch_end(Training& training, double) override {
    ++steps_;
    const int64_t now = now_ns();
    if (now - turn_began_ < kTurnNs) return;
    const double elapsed = 1e-9 * double(now - run_began_);
    if (elapsed < kWarmUp) return;
    if (turn_ >= 0) close_turn(now);
    if (elapsed > kWarmUp + seconds_ && (turn_ + 1) % 4 == 0) return training.stop("measured");
    watched_ = std::popcount(static_cast<uint64_t>(++turn_)) % 2 == 1;  // 0110 1001: fair
    training.watch(watched_);
    steps_ = 0;
    cpu_began_ = process_cpu_ns();
    turn_began_ = now_ns();
  }

  std::vector<double> wall, cpu;  // logarithms of ratios, one per four turns

 private:
  struct Cost {
    double wall = 0, cpu = 0;
  };

  void close_turn(int64_t now) {
    Cost& cost = costs_[watched_];
    cost.wall += double(now - turn_began_) / double(steps_);
    cost.cpu += double(process_cpu_ns() - cpu_began_) / double(steps_);
    if (turn_ % 4 != 3) return;
    wall.push_back(std::log(costs_[1].wall / costs_[0].wall));
    cpu.push_back(std::log(costs_[1].cpu / costs_[0].cpu));
    costs_[0] = costs_[1] = {};
  }

  const double seconds_;
  int64_t run_began_ = 0, turn_began_ = 0, cpu_began_ = 0, steps_ = 0, turn_ = -1;
  bool watched_ = true;
  Cost costs_[2];
};

struct Mean {
  double value = 0, error = 0;
};

Mean mean(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  for (const double v : values) squares += (v - sum / count) * (v - sum / count);
  return {std::expm1(sum / count), std::sqrt(squares / count / (count - 1))};
}

Turns measure(const std::string& name, const std::string& device, double seconds,
              const std::string& trace) {
  Subject s = subject(name);
  Model model(std::move(s.layers), {.device = device});
  model.compile({.optimizer = Adam(1e-4), .loss = SparseCategoricalCrossentropy()});
  const auto turns = std::make_shared<Turns>(seconds);
  FitOptions fit{.epochs = 1, .steps_per_epoch = int64_t{1} << 40, .callbacks = {turns}};
  fit.show = Show::kNothing;
  fit.trace = trace;
  model.fit(s.data, fit);
  std::filesystem::remove(trace);
  if (turns->wall.size() < 2) {
    throw Error(fmt::format("{}: {} s are too short for eight turns", name, seconds),
                "ask for more --seconds");
  }
  return *turns;
}

int run(int argc, char** argv) {
  CLI::App app("What it costs a training run to be watched by the doctor.");
  std::vector<std::string> models{"small", "medium"};
  std::string device = "cpu";
  double seconds = 90;
  bool json = false;
  app.add_option("--models", models, "small, medium (dense layers) or resnet50")
      ->delimiter(',')
      ->check(CLI::IsMember({"small", "medium", "resnet50"}))
      ->capture_default_str();
  app.add_option("--device", device, "cpu or cuda")->capture_default_str();
  app.add_option("--seconds", seconds, "for each model")
      ->check(CLI::Range(1.0, 1e5))
      ->capture_default_str();
  app.add_flag("--json", json, "for machines");
  CLI11_PARSE(app, argc, argv);
  const std::string trace =
      (std::filesystem::temp_directory_path() / fmt::format("headway-overhead-{}.trace", getpid()))
          .string();
  nlohmann::ordered_json out;
  double worst = -1;
  for (const std::string& name : models) {
    const Turns turns = measure(name, device, seconds, trace);
    const Mean wall = mean(turns.wall), cpu = mean(turns.cpu);
    worst = std::max(worst, wall.value);
    out["models"][name] = {{"wall", wall.value}, {"cpu", cpu.value}, {"error", wall.error}};
    if (json) continue;
    fmt::print("{:8} wall {:+.2f}%  CPU {:+.2f}%  (standard error {:.2f}%, {} x 4 turns)\n", name,
               100 * wall.value, 100 * cpu.value, 100 * wall.error, turns.wall.size());
  }
  out["overhead"] = worst;
  if (json) fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace
}  // namespace headway::bench

int main(int argc, char** argv) {
  try {
    return headway::bench::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "doctor_overhead: {}\n", e.what());
    return 1;
  }
}
