// Writes the simulated scenarios of this folder anew: make_scenarios FOLDER
// A file is named after what must be found in it; see headway/doctor/scenarios_test.cpp. Recorded
// ones ("serial-map.live.trace") come from `headway train --trace` and the like.
#include <cstdio>
#include <map>

#include "headway/doctor/simulate.h"
#include "headway/trace/trace_file.h"

using headway::RunPhase;
using headway::TraceReading;
using headway::testing::Simulation;

namespace {

Simulation stuck(headway::RunPhase phase, double from_s, double cores, bool feed_goes_on = false) {
  Simulation s;
  s.stuck_from_s = from_s;
  s.stuck_phase = phase;
  s.stuck_cores = cores;
  s.feed_goes_on = feed_goes_on;
  s.ended = false;
  return s;
}

Simulation with(Simulation s, std::function<void(TraceReading&)> change) {
  s.change = std::move(change);
  return s;
}

void throttle(TraceReading& s, double share) {
  s.system.quota_periods = static_cast<int64_t>(10 * s.at_s);
  s.system.throttled_count = static_cast<int64_t>(10 * s.at_s * share);
}

// A GPU that power or heat holds down half the time.
Simulation slowed_to(double clock_mhz) {
  return with({}, [clock_mhz](TraceReading& s) {
    s.gpu = {.busy_s = 0.9 * s.at_s,
             .throttled_s = 0.5 * s.at_s,
             .clock_mhz = clock_mhz,
             .full_clock_mhz = 1980,
             .memory_bytes = 80'000'000'000,
             .memory_used = 20'000'000'000};
  });
}

Simulation dropping() {
  return with(stuck(RunPhase::kFirstBatch, 0, 0.9, true),
              [](TraceReading& s) { s.stages[0].dropped = s.stages[0].in; });
}

Simulation filling() {
  Simulation s = stuck(RunPhase::kFirstBatch, 0, 0.9, true);
  s.dataset = headway::testing::kBuffered;
  return s;
}

const std::map<std::string, Simulation> kScenarios = {
    {"healthy-compute-bound", {}},
    {"healthy-serial-but-fast",
     {.op_ms = 1, .serial_ms = 30, .dataset = headway::testing::kSerial}},
    {"healthy-checkpoint-pause", {.checkpoint_ms = 1}},
    {"healthy-mapped-file",
     with({}, [](TraceReading& s) { s.system.major_faults = static_cast<int64_t>(500 * s.at_s); })},
    {"healthy-noisy-neighbour",
     with({}, [](TraceReading& s) { s.system.run_queue_wait_s = 3 * s.at_s; })},
    {"healthy-validating", stuck(RunPhase::kValidation, 15, 2)},
    {"healthy-quota-with-room", with({}, [](TraceReading& s) { throttle(s, 0.05); })},
    {"healthy-batch-of-one-large-model", {.batch = 1, .own_ms = 400}},
    {"healthy-small-growth", {.growth_ms = 0.001}},
    {"healthy-gpu-near-full-clock", slowed_to(1900)},
    {"gpu-throttled-or-shared", slowed_to(1200)},
    {"serial-map", {.op_ms = 1, .serial_ms = 100, .dataset = headway::testing::kSerial}},
    {"dataloader-workers", {.op_ms = 200, .input_threads = 2, .cpus = 16, .compute_threads = 1}},
    {"healthy-few-workers-that-keep-up",
     {.op_ms = 60, .input_threads = 2, .cpus = 16, .device = "cuda:0", .gpu_busy = 0.85}},
    {"launch-bound",
     {.cpus = 16,
      .compute_threads = 1,
      .device = "cuda:0",
      .gpu_busy = 0.4,
      .products = headway::ProductType::kBFloat16}},
    {"healthy-gpu-computes",
     {.cpus = 16, .compute_threads = 1, .device = "cuda:0", .gpu_busy = 0.95}},
    {"healthy-gpu-in-float32",
     {.cpus = 16,
      .compute_threads = 1,
      .device = "cuda:0",
      .gpu_busy = 0.95,
      .products = headway::ProductType::kFloat32}},
    {"upload-bound", with({.cpus = 16,
                           .compute_threads = 1,
                           .device = "cuda:0",
                           .gpu_busy = 0.6,
                           .products = headway::ProductType::kBFloat16},
                          [](TraceReading& s) {
                            constexpr auto kUpload =
                                static_cast<size_t>(headway::StepPhase::kUpload);
                            s.times.seconds[kUpload] = 0.3 * s.at_s;
                          })},
    {"decode-saturated", {.op_ms = 200, .compute_cores = 0.1}},
    {"input-bound", {.op = {.name = "augment"}, .op_ms = 200}},
    {"many-small-files", {.op_ms = 200, .op_blocks = true, .bytes_per_sample = 5e3}},
    {"slow-storage",
     {.op = headway::testing::kParse,
      .op_ms = 200,
      .dataset = headway::testing::kRecords,
      .op_blocks = true}},
    {"source-never-yields", stuck(RunPhase::kFirstBatch, 0, 0.9)},
    {"source-never-yields.dropped", dropping()},
    {"worker-deadlock", stuck(RunPhase::kWaitingForData, 12, 0)},
    {"shuffle-fill", filling()},
    {"cpu-quota", with({.op_ms = 200}, [](TraceReading& s) { throttle(s, 0.6); })},
    {"thread-oversubscription", with({.compute_threads = 16},
                                     [](TraceReading& s) {
                                       s.system.cpu_s = 1.9 * s.at_s;
                                       s.system.run_queue_wait_s = 6 * s.at_s;
                                     })},
    {"single-core-affinity", {.cpus = 8, .compute_threads = 1}},
    {"host-memory-pressure",
     with({}, [](TraceReading& s) { s.system.memory_full_s = 0.3 * s.at_s; })},
    {"memory-limit", with({}, [](TraceReading& s) { s.system.available_bytes = 9'000'000; })},
    {"host-memory-leak",
     with({}, [](TraceReading& s) { s.system.rss_bytes += 400'000 * s.steps; })},
    {"slow-callback", {.callback_ms = 20}},
    {"slow-callback.stuck", stuck(RunPhase::kCallbacks, 10, 0)},
    {"slow-callback.checkpoint", {.checkpoint_ms = 30}},
    {"batch-too-small", {.batch = 1, .own_ms = 4, .op_ms = 1}},
    {"step-time-grows", {.growth_ms = 0.3}},
    {"hidden-validation", {.validation_ms = 60}},
    {"learning-rate.high", {.loss_at_end = 50, .learning_rate = 1}},
    {"learning-rate.low", {.loss_at_end = 2.299, .learning_rate = 1e-7}},
    {"nan-loss", {.bad_from_step = 1}},
    {"loss-frozen", {.loss_at_end = 2.3}},
    {"weights-not-updated", {.loss_at_end = 2.3, .learning_rate = 0}},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "make_scenarios FOLDER\n");
    return 2;
  }
  for (auto [name, s] : kScenarios) {
    s.sample_s = 3;
    s.seconds = 33;
    headway::write_trace(std::string(argv[1]) + "/" + name + ".trace", simulate(s));
  }
  std::printf("%zu scenarios\n", kScenarios.size());
}
