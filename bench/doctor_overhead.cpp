// What it costs to be watched: the same training with the recorder, the vital signs and the trace
// file on, and with everything off, in turns within one run.
//
//   doctor_overhead [--rounds 15] [--json]
//
// The figure is the median of the ratios of neighbouring rounds; CPU time beside it, since wall
// time is noisy where others compute.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "headway/core/clock.h"
#include "headway/train/train.h"

namespace headway::bench {
namespace {

struct Cost {
  double wall_s = 0, cpu_s = 0;  // per step
};

struct Subject {
  std::string name;
  Model model;
  Dataset data;
  int64_t steps;
};

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

Cost train(Subject& s, bool watched, const std::string& trace) {
  FitOptions fit{.epochs = 1, .steps_per_epoch = s.steps, .show = Show::kNothing};
  fit.telemetry = watched;
  if (watched) fit.trace = trace;
  const int64_t wall = now_ns(), cpu = process_cpu_ns();
  s.model.fit(s.data, fit);
  return {1e-9 * double(now_ns() - wall) / double(s.steps),
          1e-9 * double(process_cpu_ns() - cpu) / double(s.steps)};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + int64_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Ratios {
  std::vector<double> wall, cpu;
};

// With, without, without, with: a machine that gets slower or faster meanwhile favours nobody.
Ratios measure(Subject& s, int rounds, const std::string& trace) {
  Ratios out;
  train(s, true, trace);
  for (int i = 0; i < rounds; ++i) {
    Cost costs[2];
    const bool first = i % 2 == 0;
    for (const bool watched : {first, !first, !first, first}) {
      const Cost cost = train(s, watched, trace);
      costs[watched].wall_s += cost.wall_s;
      costs[watched].cpu_s += cost.cpu_s;
    }
    out.wall.push_back(costs[1].wall_s / costs[0].wall_s);
    out.cpu.push_back(costs[1].cpu_s / costs[0].cpu_s);
  }
  return out;
}

int run(int argc, char** argv) {
  CLI::App app("What it costs a training run to be watched by the doctor.");
  int rounds = 15;
  bool json = false;
  app.add_option("--rounds", rounds, "each with, without, without, with")->capture_default_str();
  app.add_flag("--json", json, "for machines");
  CLI11_PARSE(app, argc, argv);
  const std::string trace =
      (std::filesystem::temp_directory_path() / fmt::format("headway-overhead-{}.trace", getpid()))
          .string();
  std::vector<Subject> subjects;
  subjects.push_back({"small", dense(128), rows(4096, 784, 32), 2000});
  subjects.push_back({"medium", dense(1024), rows(2048, 784, 128), 75});
  nlohmann::ordered_json out;
  double worst = 0;
  for (Subject& s : subjects) {
    const Ratios ratios = measure(s, rounds, trace);
    const double wall = median(ratios.wall) - 1, cpu = median(ratios.cpu) - 1;
    worst = std::max(worst, wall);
    out["models"][s.name] = {{"wall", wall}, {"cpu", cpu}};
    if (!json) fmt::print("{:8} wall {:+.2f}%  CPU {:+.2f}%\n", s.name, 100 * wall, 100 * cpu);
  }
  std::filesystem::remove(trace);
  out["overhead"] = worst;
  if (json) fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace
}  // namespace headway::bench

int main(int argc, char** argv) { return headway::bench::run(argc, argv); }
