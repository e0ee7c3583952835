// What the GPU of a watched run waits for while it is idle, and what it computes while it is busy.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "headway/core/text.h"
#include "headway/doctor/evidence.h"
#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr double kSettledS = 8;
constexpr double kBusyEnough = 0.8;  // of the time: at most a quarter can be gained
constexpr double kOrdersBusy = 0.65;
constexpr double kHostShare = 0.15;  // of the training thread's time, for one thing on the host
constexpr double kDataFirst = 0.25;  // if it waits for data this long, that comes first
constexpr double kMostlySteps = 0.4;

struct Host {
  const Observations& o;
  double busy;  // the GPU, share of the time
};

// A run past its warm-up whose GPU is not always busy.
std::optional<Host> idle_gpu(const Observations& o, double busy_at_most) {
  const auto busy = o.gpu_busy();
  if (!o.looks || !busy || *busy >= busy_at_most || !o.ledger.is_enough() ||
      o.ledger.seconds() < kSettledS || !o.running())
    return std::nullopt;
  return Host{o, *busy};
}

double share_of(const Observations& o, Activity activity) {
  return o.looks->late_share(
      [&](const SeenStack& s) { return on_main(s) && s.training && s.activity == activity; });
}

HotLine line_of(const Observations& o, Activity activity) {
  return o.looks->hottest(
      [&](const SeenStack& s) { return on_main(s) && s.training && s.activity == activity; });
}

double data_share(const Observations& o) {
  return o.ledger.of({Account::kWaitsForData, Account::kMakesData}).share;
}

// Share of the training thread's time, by hits of its native code: it is on a core while it waits
// for the driver.
double native_share(const Observations& o, int64_t SeenNative::*what) {
  constexpr int64_t kFewest = 25;
  const SeenNative& native = o.looks->seen.native;
  if (native.main_samples < kFewest) return 0;
  double seconds = 0, on_core = 0;
  for (const LedgerBlock& block : o.looks->seen.ledger)
    if (block.training) seconds += block.seconds, on_core += block.main_cpu_s;
  const double part = double(native.*what) / double(native.main_samples);
  return seconds > 0 ? part * std::min(1.0, on_core / seconds) : 0;
}

std::string busy_text(const Observations& o, double busy) {
  std::string text = fmt::format("the GPU is busy {:.0f}% of the time", 100 * busy);
  if (const GpuWork* work = o.gpu_work())
    text += fmt::format(", {:.0f}% of its multiprocessors have work", 100 * work->sms);
  return text;
}

// A step then takes as long as the GPU's work or the host's remaining work, whichever is longer.
double gain_without_host(double busy, double share) {
  return 1 / std::max({busy, 1 - share, 0.05});
}

int64_t batch_size(const Outside& seen) {
  return seen.batch_size > 0 ? seen.batch_size : seen.written_batch_size;
}

}  // namespace

std::optional<Finding> gpu_waits_for_uploads(const Observations& o) {
  constexpr double kManyBytes = 0.5e9;  // per second
  const auto host = idle_gpu(o, kBusyEnough);
  if (!host) return std::nullopt;
  const GpuWork* work = o.gpu_work();
  const double share =
      std::max(share_of(o, Activity::kUpload), native_share(o, &SeenNative::main_uploads));
  if (share < kHostShare || (work && work->received_bps < kManyBytes)) return std::nullopt;
  Finding f{.cause = Cause::kUploadBound,
            .severity = Severity::kWarning,
            .confidence = work ? 0.85 : 0.6,
            .summary = fmt::format("copying batches to the GPU takes {:.0f}% of the training "
                                   "thread's time, and the GPU idles meanwhile",
                                   100 * share),
            .evidence = {busy_text(o, host->busy)},
            .fix =
                "page-locked memory (DataLoader(pin_memory=True), tensor.pin_memory()) and "
                ".to(device, non_blocking=True); send bytes and convert them on the GPU; keep on "
                "the GPU what fits there",
            .predicted_gain = gain_without_host(host->busy, share)};
  if (work)
    f.evidence.push_back(fmt::format("it receives {} per second", size_text(work->received_bps)));
  const HotLine hot = line_of(o, Activity::kUpload);
  if (hot.frame) f.where = place_text(*hot.frame);
  add_pace(f, *o.looks);
  return f;
}

std::optional<Finding> gpu_waits_for_reads(const Observations& o) {
  constexpr double kReadsBusy = 0.75;
  const auto host = idle_gpu(o, kReadsBusy);
  if (!host || data_share(o) >= kDataFirst || gpu_waits_for_uploads(o)) return std::nullopt;
  const double share =
      std::max(share_of(o, Activity::kSync), native_share(o, &SeenNative::main_waits));
  if (share < kHostShare) return std::nullopt;
  Finding f{
      .cause = Cause::kSyncEveryStep,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary = fmt::format("values are read back from the GPU again and again: it runs out of "
                             "orders, and is busy {:.0f}% of the time",
                             100 * host->busy),
      .evidence = {fmt::format("the training thread waits for values {:.0f}% of the time",
                               100 * share),
                   busy_text(o, host->busy)},
      .fix =
          "keep losses and metrics on the GPU (total += loss.detach()) and read them every 50 "
          "steps; no .item(), .cpu(), print() or `if` on a tensor inside the step",
      .predicted_gain = gain_without_host(host->busy, share)};
  HotLine hot = line_of(o, Activity::kSync);
  if (!hot.frame) hot = line_of(o, Activity::kUser);
  if (hot.frame) f.where = place_text(*hot.frame);
  add_pace(f, *o.looks);
  return f;
}

namespace {

// The training thread works on the steps, and the GPU finishes before the next order arrives.
std::optional<Finding> late_orders(const Observations& o) {
  const auto host = idle_gpu(o, kOrdersBusy);
  if (!host || data_share(o) >= kDataFirst || gpu_waits_for_uploads(o) || gpu_waits_for_reads(o))
    return std::nullopt;
  const Share steps = o.ledger.of({Account::kComputes, Account::kLaunches});
  if (steps.share < kMostlySteps || steps.low < kMostlySteps / 2) return std::nullopt;
  Finding f{.cause = Cause::kLaunchBound,
            .severity = Severity::kWarning,
            .confidence = 0.65,
            .summary = fmt::format("the GPU waits for orders: it is busy {:.0f}% of the time, and "
                                   "what it lacks is not data",
                                   100 * host->busy),
            .evidence = {"the training thread works on the steps " + share_text(steps),
                         busy_text(o, host->busy)},
            .where = o.ledger.where(Account::kComputes),
            .fix =
                "a larger batch while memory lasts; torch.compile, CUDA graphs or jax.jit; "
                "fewer small operators and values read back (.item())"};
  add_pace(f, *o.looks);
  return f;
}

constexpr int64_t kSmallBatch = 16;

}  // namespace

std::optional<Finding> gpu_has_small_batches(const Observations& o) {
  constexpr double kFewUnits = 0.35;
  auto late = late_orders(o);
  if (!late || batch_size(o.looks->seen) < 1 || batch_size(o.looks->seen) > kSmallBatch)
    return std::nullopt;
  const GpuWork* work = o.gpu_work();
  if (work && work->sms > kFewUnits) return std::nullopt;
  const int64_t batch = batch_size(o.looks->seen);
  late->cause = Cause::kBatchTooSmall;
  late->summary = fmt::format(
      "batches of {} are too small for this GPU: it is busy {:.0f}% of the "
      "time",
      batch, 100 * o.gpu_busy().value_or(0));
  late->fix =
      "a batch several times as large while memory lasts, with the learning rate raised "
      "to match";
  if (o.looks->seen.batch_size_at.line > 0) late->where = place_text(o.looks->seen.batch_size_at);
  return late;
}

std::optional<Finding> gpu_waits_for_orders(const Observations& o) {
  return gpu_has_small_batches(o) ? std::nullopt : late_orders(o);
}

std::optional<Finding> gpu_computes_in_float32(const Observations& o) {
  constexpr double kFull = 0.8, kMostly = 0.35, kFewProducts = 0.02, kSome = 0.1;
  const GpuWork* work = o.gpu_work();
  if (!work || work->busy < kFull || !o.ledger.is_enough() || work->seconds < kSettledS)
    return std::nullopt;
  const bool doubles = work->fp64 >= kSome && work->fp64 > work->tensor;
  const bool floats = work->fp32 >= kMostly && work->tensor < kFewProducts;
  if (!doubles && !floats) return std::nullopt;
  return Finding{
      .cause = Cause::kNoMixedPrecision,
      .severity = Severity::kWarning,
      .confidence = 0.8,
      .summary = fmt::format("the GPU computes in float{} all the time, so its fast units for "
                             "matrix products are not used",
                             doubles ? 64 : 32),
      .evidence = {busy_text(o, work->busy),
                   fmt::format("units at work: float32 {:.0f}%, float64 {:.0f}%, products of "
                               "matrices (tensor cores) {:.0f}% of the time",
                               100 * work->fp32, 100 * work->fp64, 100 * work->tensor)},
      .where = o.ledger.where(Account::kComputes),
      .fix =
          doubles
              ? "use float32 or less: torch.set_default_dtype(torch.float32), .float() on tensors, "
                ".astype(\"float32\") on arrays (NumPy makes float64)"
              : "use bfloat16 where it is exact enough: torch.autocast(\"cuda\", "
                "dtype=torch.bfloat16) or torch.set_float32_matmul_precision(\"high\"), Lightning "
                "precision=\"bf16-mixed\", TrainingArguments(bf16=True), bfloat16 in JAX"};
}

// In every step something stays in the GPU's memory.
std::optional<Finding> gpu_memory_grows(const Observations& o) {
  constexpr double kSettlesS = 4, kStraight = 0.85, kGrown = 200e6, kGrownShare = 0.1;
  constexpr size_t kFewest = 12;
  if (!o.looks || !o.looks->training() || !o.gpu_busy()) return std::nullopt;
  const Outside& seen = o.looks->seen;
  const double first_step = seen.progress.first_step_s;
  const double since = (first_step >= 0 ? first_step : seen.training_since_s) + kSettlesS;
  std::vector<double> at, bytes;
  double all = 0;
  for (const TraceReading& sample : o.trace.samples) {
    if (sample.at_s < since || sample.gpu.memory_used <= 0) continue;
    at.push_back(sample.at_s), bytes.push_back(double(sample.gpu.memory_used));
    all = double(sample.gpu.memory_bytes);
  }
  if (at.size() < kFewest) return std::nullopt;
  const Line line = fit_line(at, bytes);
  const size_t middle = at.size() / 2;
  const double late = bytes.back() - bytes[middle], early = bytes[middle] - bytes.front();
  const double grown = bytes.back() - bytes.front();
  if (line.r2 < kStraight || grown < kGrown || grown < kGrownShare * bytes.front() ||
      late < early / 3)
    return std::nullopt;
  Finding f{
      .cause = Cause::kHostMemoryLeak,
      .severity = Severity::kWarning,
      .confidence = 0.75,
      .summary = fmt::format("the GPU's memory fills by {} per second", size_text(line.slope)),
      .evidence = {fmt::format("{} more in {}, {} of {} in use", size_text(grown),
                               duration_text(at.back() - at.front()), size_text(bytes.back()),
                               size_text(all))},
      .fix =
          "keep numbers, not tensors: loss.item() or .detach() in lists and sums; whatever "
          "holds a loss holds its whole graph"};
  if (line.slope > 0 && all > bytes.back())
    f.evidence.push_back(fmt::format("what is left lasts for about {}",
                                     duration_text((all - bytes.back()) / line.slope)));
  const HotLine hot = o.looks->hottest([](const SeenStack& s) { return on_main(s) && s.training; });
  if (seen.keeps_at.line > 0) f.where = place_text(seen.keeps_at);
  else if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

// The GPU was opened, but the steps are made elsewhere.
std::optional<Finding> gpu_hardly_used(const Observations& o) {
  constexpr double kNothing = 0.01, kOneCore = 0.9;
  const GpuWork* work = o.gpu_work();
  if (!work || work->busy > kNothing || !o.ledger.is_enough() || work->seconds < kSettledS)
    return std::nullopt;
  const Share steps = o.ledger.of({Account::kComputes, Account::kLaunches});
  if (steps.low < kMostlySteps || o.looks->seen.cores < kOneCore) return std::nullopt;
  return Finding{.cause = Cause::kGpuNotUsed,
                 .severity = Severity::kHigh,
                 .confidence = 0.7,
                 .summary = fmt::format(
                     "the steps are computed on the CPU: the GPU is busy {:.1f}% of the time",
                     100 * work->busy),
                 .evidence = {fmt::format("the training thread computes {}, {:.2f} cores are used",
                                          share_text(steps), o.looks->seen.cores)},
                 .where = o.ledger.where(Account::kComputes),
                 .fix =
                     "move the model and the batches to the GPU (model.to(\"cuda\"), "
                     "batch.to(\"cuda\")), and check CUDA_VISIBLE_DEVICES"};
}

}  // namespace headway
