#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "headway/trace/trace.h"

// For tests: traces of simulated runs. Training and feed overlap; the slower one sets the
// pace.
namespace headway::testing {

inline const OpFacts kDecode{.name = "decode_image", .reads_files = true, .pixels = true};
inline const OpFacts kParse{.name = "parse_example", .reads_files = true};
inline const OpFacts kSerialMap{.name = "slow(serial)", .serial = true};
inline const OpFacts kBatch{.name = "batch(32)"};
inline const std::vector<OpFacts> kPhotos{
    {.name = "image_folder(photos)", .source = true, .lists_files = true},
    {.name = "shuffle(seed 0)"},
    kDecode,
    kBatch};
inline const std::vector<OpFacts> kSerial{
    {.name = "range(1000)", .source = true}, kSerialMap, kBatch};
inline const std::vector<OpFacts> kRecords{
    {.name = "tfrecord(16 files)", .source = true, .reads_files = true}, kParse, kBatch};
inline const std::vector<OpFacts> kBuffered{
    {.name = "generator", .source = true, .serial = true},
    {.name = "shuffle(buffer 100000 from 50000 on, seed 0)", .fills_first = true},
    kBatch};
inline const std::vector<OpFacts> kCached{
    {.name = "range(1000)", .source = true}, {.name = "cache", .keeps = true}, kBatch};

struct Simulation {
  double seconds = 30, sample_s = 1;
  int64_t batch = 32;
  int64_t steps_per_epoch = 10'000;
  // Training, per step.
  double own_ms = 40, optimizer_ms = 2, callback_ms = 0, checkpoint_ms = 0, validation_ms = 0;
  double growth_ms = 0;  // added to own_ms with every step
  // The pipeline, per batch: one operator on many workers, and a part that only one worker may do.
  OpFacts op = kDecode;
  double op_ms = 10, serial_ms = 0;
  std::vector<OpFacts> dataset = kPhotos;
  int64_t feed_threads = 2;
  int64_t input_threads = 0;  // asked for
  bool op_blocks = false;     // it waits instead of computing
  bool serial_blocks = false;
  // The machine.
  double cpus = 2;
  int64_t compute_threads = 2;
  std::string device = "cpu";
  double gpu_busy = 0;                           // of the time
  ProductType products = ProductType::kUnknown;  // kUnknown: the user's own training loop
  double compute_cores = 0.5;                    // used by training while it computes
  double bytes_per_sample = 0;
  // What is learnt.
  double loss = 2.3, loss_at_end = 0.5, learning_rate = 1e-3;
  int64_t bad_from_step = 0;
  // From here on no steps are made.
  double stuck_from_s = 1e9;
  RunPhase stuck_phase = RunPhase::kWaitingForData;
  double stuck_cores = 0;
  bool feed_goes_on = false;
  bool ended = true;
  std::function<void(TraceReading&)> change{};  // changes each reading after everything else
};

inline TraceReading simulated_sample(const Simulation& s, double at_s, double steps,
                                     double quiet_s) {
  TraceReading out;
  out.at_s = at_s;
  out.steps = static_cast<int64_t>(steps);
  const double n = double(out.steps);
  out.samples = out.steps * s.batch;
  out.batches = out.steps;
  out.epoch = out.steps / s.steps_per_epoch;
  out.step_in_epoch = out.steps % s.steps_per_epoch;
  const double own_ms = s.own_ms + s.growth_ms * n / 2;
  const double feed_ms = std::max(s.serial_ms, (s.op_ms + s.serial_ms) / double(s.feed_threads));
  const auto put = [&](StepPhase phase, double ms) {
    out.times.seconds[static_cast<size_t>(phase)] = 1e-3 * ms * n;
  };
  put(StepPhase::kWaitForData, std::max(0.0, feed_ms - own_ms - s.callback_ms));
  put(StepPhase::kForward, (own_ms - s.optimizer_ms) * 0.4);
  put(StepPhase::kBackward, (own_ms - s.optimizer_ms) * 0.6);
  put(StepPhase::kOptimizer, s.optimizer_ms);
  put(StepPhase::kCallbacks, s.callback_ms);
  put(StepPhase::kCheckpoint, s.checkpoint_ms);
  put(StepPhase::kValidation, s.validation_ms);
  const double made = n + (s.feed_goes_on ? 100 * quiet_s : 0);
  StageReading& stage = out.stages.emplace_back();
  stage.in = static_cast<int64_t>(made * double(s.batch));
  stage.out = out.batches;
  stage.busy_s = 1e-3 * s.op_ms * n;
  stage.input_s = 1e-3 * s.serial_ms * n;
  stage.op_busy_s = {stage.busy_s};
  out.feed_threads = s.feed_threads;
  const double training = 1e-3 * own_ms * n * s.compute_cores;
  out.system.cpu_s = training + (s.op_blocks ? 0 : stage.busy_s) +
                     (s.serial_blocks ? 0 : stage.input_s) + s.stuck_cores * quiet_s;
  out.system.cpu_s = std::min(out.system.cpu_s, s.cpus * at_s);
  out.system.rss_bytes = 500'000'000;
  out.system.available_bytes = 4'000'000'000;
  out.system.threads = 8;
  out.system.read_bytes = static_cast<int64_t>(s.bytes_per_sample * double(out.samples));
  if (s.device != "cpu") {
    out.gpu = {.busy_s = s.gpu_busy * at_s,
               .clock_mhz = 1980,
               .full_clock_mhz = 1980,
               .memory_bytes = 80'000'000'000,
               .memory_used = 20'000'000'000};
  }
  out.losses = out.steps;
  out.learning_rate = s.learning_rate;
  if (s.bad_from_step > 0 && out.steps >= s.bad_from_step) {
    out.losses = s.bad_from_step - 1;
    out.bad_losses = out.steps - out.losses;
    out.first_bad_step = s.bad_from_step;
  }
  return out;
}

inline Trace simulate(const Simulation& s) {
  Trace trace;
  trace.run = {.program = "simulation",
               .device = s.device,
               .gpu = s.device == "cpu" ? "" : "simulated GPU",
               .cpus = s.cpus,
               .machine_cores = static_cast<int64_t>(s.cpus),
               .compute_threads = s.compute_threads,
               .input_threads = s.input_threads,
               .products = s.products,
               .operators = s.dataset,
               .optimizer = "Adam",
               .batch_size = s.batch,
               .steps_per_epoch = s.steps_per_epoch,
               .epochs = 10};
  for (const OpFacts& op : s.dataset) trace.run.dataset += op.name + "\n";
  trace.stages = {{.name = s.op.name + "+batch", .ops = {s.op}}};
  trace.phases = {{RunPhase::kFirstBatch, 0, 0.2},
                  {RunPhase::kBuilding, 0.2, 0.1},
                  {RunPhase::kFirstStep, 0.3, 0.4}};
  double steps = 0, loss_sum = 0, square_sum = 0;
  for (double at = s.sample_s; at <= s.seconds; at += s.sample_s) {
    const double quiet = std::max(0.0, at - s.stuck_from_s);
    if (quiet == 0) {
      const double own = s.own_ms + s.growth_ms * steps;
      const double feed = std::max(s.serial_ms, (s.op_ms + s.serial_ms) / double(s.feed_threads));
      const double step = std::max(own + s.callback_ms, feed) + s.checkpoint_ms + s.validation_ms;
      steps += 1e3 * s.sample_s / step;
    }
    TraceReading sample = simulated_sample(s, at, steps, quiet);
    const double done =
        double(sample.losses - (trace.samples.empty() ? 0 : trace.samples.back().losses));
    const double loss = s.loss + (s.loss_at_end - s.loss) * at / s.seconds;
    sample.loss_sum = loss_sum += done * loss;
    sample.loss_square_sum = square_sum += done * loss * loss;
    sample.phase = quiet > 0 ? s.stuck_phase : RunPhase::kStep;
    sample.phase_s = quiet;
    if (s.change) s.change(sample);
    trace.samples.push_back(sample);
  }
  if (s.ended) trace.ending = "finished";
  return trace;
}

}  // namespace headway::testing
