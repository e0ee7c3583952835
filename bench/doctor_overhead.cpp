// What it costs to be watched: one training in which the recorder, the vital signs and the trace
// file are on and off in turns of a few milliseconds, so that a neighbour or a warm processor
// slows both alike.
//
//   doctor_overhead [--seconds 90] [--json]
//
// Of every four turns two are watched; the figure is the mean ratio of their time per step to that
// of the other two, without the most extreme fiftieth on either side, and the error of that mean.
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

Dataset rows(int64_t count, int64_t width, int64_t batch) {
  Tensor x = Tensor::empty(DType::kFloat32, {count, width});
  Tensor y = Tensor::empty(DType::kInt64, {count});
  for (int64_t i = 0; i < count; ++i) {
    Random random(1, 0, static_cast<uint64_t>(i), 0);
    for (int64_t j = 0; j < width; ++j) x.values<float>()[i * width + j] = random.normal();
    y.values<int64_t>()[i] = i % 2;
  }
  return from_tensor_slices({{"x", x}, {"y", y}}).repeat().shuffle().batch(batch);
}

Model dense(int64_t width) {
  Model model({Dense(width, {.activation = "relu"}), Dense(width, {.activation = "relu"}),
               Dense(2, {.activation = "softmax"})},
              {.device = "cpu"});
  model.compile({.optimizer = Adam(1e-4), .loss = SparseCategoricalCrossentropy()});
  return model;
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

Mean trimmed(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<int64_t>(values.size() / 50);
  const std::vector<double> kept(values.begin() + cut, values.end() - cut);
  const auto count = static_cast<double>(kept.size());
  double sum = 0, squares = 0;
  for (const double v : kept) sum += v;
  for (const double v : kept) squares += (v - sum / count) * (v - sum / count);
  return {std::expm1(sum / count), std::sqrt(squares / count / (count - 1))};
}

int run(int argc, char** argv) {
  CLI::App app("What it costs a training run to be watched by the doctor.");
  double seconds = 90;
  bool json = false;
  app.add_option("--seconds", seconds, "for each model")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1e5));
  app.add_flag("--json", json, "for machines");
  CLI11_PARSE(app, argc, argv);
  const std::string trace =
      (std::filesystem::temp_directory_path() / fmt::format("headway-overhead-{}.trace", getpid()))
          .string();
  struct Subject {
    std::string name;
    Model model;
    Dataset data;
  };
  std::vector<Subject> subjects;
  subjects.push_back({"small", dense(128), rows(4096, 784, 32)});
  subjects.push_back({"medium", dense(1024), rows(2048, 784, 128)});
  nlohmann::ordered_json out;
  double worst = 0;
  for (Subject& s : subjects) {
    const auto turns = std::make_shared<Turns>(seconds);
    FitOptions fit{.epochs = 1, .steps_per_epoch = int64_t{1} << 40, .callbacks = {turns}};
    fit.show = Show::kNothing;
    fit.trace = trace;
    s.model.fit(s.data, fit);
    const Mean wall = trimmed(turns->wall), cpu = trimmed(turns->cpu);
    worst = std::max(worst, wall.value);
    out["models"][s.name] = {{"wall", wall.value}, {"cpu", cpu.value}, {"error", wall.error}};
    if (json) continue;
    fmt::print("{:8} wall {:+.2f}%  CPU {:+.2f}%  (standard error {:.2f}%, {} x 4 turns)\n", s.name,
               100 * wall.value, 100 * cpu.value, 100 * wall.error, turns->wall.size());
  }
  std::filesystem::remove(trace);
  out["overhead"] = worst;
  if (json) fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace
}  // namespace headway::bench

int main(int argc, char** argv) { return headway::bench::run(argc, argv); }
