#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside_input.h"

// Input pipelines in native code (tf.data): their threads have no Python stacks. The native eye
// sees that a step waits for its next element, and which threads work for the pipeline meanwhile.
namespace headway {
namespace {

constexpr int64_t kEnoughSamples = 60;
constexpr double kAllCores = 0.75;  // of those the run may use, for the pipeline alone
constexpr double kOneThread = 1.3;  // cores: what one thread uses, plus what others do for it
constexpr double kBusyThread = 0.5;
constexpr double kMostly = 0.5;
constexpr double kWaits = 0.05;  // of the time, at least: else the model is the limit

struct Pipeline {
  Share waits{};                  // of the time: a step waits for its next element
  double crowds = 0;              // of the time: the model lacks cores that the pipeline uses
  std::optional<double> cores{};  // used by the pipeline; nothing: no hits
  double decodes = 0;             // of these, in decoders and operators on pixels
  const SeenFunction* hottest = nullptr;  // in the pipeline

  double lost() const { return waits.low + crowds; }
};

// Cores that the run used while it trained.
double cores_used(const Outside& seen) {
  double cpu_s = 0, seconds = 0;
  for (const LedgerBlock& block : seen.ledger)
    if (block.training) cpu_s += block.cpu_s, seconds += block.seconds;
  return seconds > 0 ? cpu_s / seconds : 0;
}

// How far the run itself fills the cores: 0 if some are free, 1 if none is. Threads that only look
// for work count as leaving them free.
double fullness(const Observations& o) {
  constexpr double kFree = 0.75, kFull = 0.92;  // of the cores
  const SeenNative& native = o.looks->seen.native;
  int64_t idle = 0;
  for (const SeenFunction& each : native.functions)
    if (each.kind == NativeKind::kIdle || each.kind == NativeKind::kSpins) idle += each.samples;
  const double works = 1 - double(idle) / double(std::max<int64_t>(1, native.samples));
  const double used = works * cores_used(o.looks->seen) / o.cpus();
  return std::clamp((used - kFree) / (kFull - kFree), 0.0, 1.0);
}

// Steps wait for the pipeline, or compute more slowly because it takes cores from them.
std::optional<Pipeline> slow_pipeline(const Observations& o) {
  if (!o.looks || !o.ledger.is_enough()) return std::nullopt;
  const SeenNative& native = o.looks->seen.native;
  if (native.takers_since_s < 0) return std::nullopt;
  Pipeline out{.waits = o.ledger.alone({Account::kWaitsForData})};
  // While the device is busy, waiting for the next element costs nothing.
  const double busy = o.ledger.of(Account::kWaitsForData, DeviceState::kBusy).share;
  for (double* each : {&out.waits.share, &out.waits.low, &out.waits.high})
    *each = std::max(0.0, *each - busy);
  const bool told = double(native.whole) >= kMostly * double(native.samples);
  if (native.whole >= kEnoughSamples && told) {
    const double part = double(native.input_samples) / double(native.whole);
    out.cores = cores_used(o.looks->seen) * part;
    out.crowds = o.ledger.alone({Account::kComputes}).share * part * fullness(o);
  }
  if (out.waits.low < kWaits || out.lost() < kRepair) return std::nullopt;
  out.decodes = double(native.decode_samples) / double(std::max<int64_t>(1, native.input_samples));
  for (const SeenFunction& each : native.functions)
    if (each.input && !each.function.empty() && !out.hottest) out.hottest = &each;
  return out;
}

Finding finding_of(const Observations& o, const Pipeline& pipeline, Cause cause) {
  const SeenNative& native = o.looks->seen.native;
  Finding out{
      .cause = cause,
      .severity = severity_of_share(pipeline.lost()),
      .confidence = 0.85,
      .evidence = {"steps wait for the next element of tf.data " + share_text(pipeline.waits)}};
  if (pipeline.cores)
    out.evidence.push_back(
        fmt::format("the pipeline uses {:.1f} of {:.3g} cores", *pipeline.cores, o.cpus()));
  if (pipeline.hottest)
    out.evidence.push_back(
        fmt::format("{:.0f}% of that in {} ({})",
                    100 * double(pipeline.hottest->samples) / double(native.input_samples),
                    pipeline.hottest->function, pipeline.hottest->library));
  if (pipeline.crowds >= kWaits)
    out.evidence.push_back(
        fmt::format("no core is free, and the model would have {:.0f}% more of the time without it",
                    100 * pipeline.crowds));
  out.predicted_gain = gain_without(std::min(0.9, pipeline.waits.share + pipeline.crowds));
  add_pace(out, *o.looks);
  return out;
}

bool all_cores(const Observations& o, const Pipeline& pipeline) {
  return pipeline.cores && *pipeline.cores >= kAllCores * o.cpus();
}

}  // namespace

std::optional<Finding> native_serial_map(const Observations& o) {
  const auto pipeline = slow_pipeline(o);
  if (!pipeline || o.looks->seen.serial_map_at.line == 0 || o.cpus() < 2) return std::nullopt;
  if (pipeline->waits.low < kRepair) return std::nullopt;  // no core is free for more threads
  // TensorFlow runs stateless functions in parallel anyway: require that one busy thread is seen.
  if (!pipeline->cores || *pipeline->cores > kOneThread || *pipeline->cores < kBusyThread)
    return std::nullopt;
  Finding out = finding_of(o, *pipeline, Cause::kSerialMap);
  out.summary = "map() makes samples one at a time, and training waits for it";
  out.where = place_text(o.looks->seen.serial_map_at);
  out.fix =
      "use map(..., num_parallel_calls=tf.data.AUTOTUNE), and prefetch(tf.data.AUTOTUNE) as the "
      "last call";
  return out;
}

std::optional<Finding> native_decode_saturated(const Observations& o) {
  const auto pipeline = slow_pipeline(o);
  if (!pipeline || !all_cores(o, *pipeline) || pipeline->decodes < kMostly) return std::nullopt;
  Finding out = finding_of(o, *pipeline, Cause::kDecodeSaturated);
  const bool images = o.looks->seen.decodes_at.line > 0;
  out.summary = "all cores are busy decoding samples, and training still waits";
  if (images) out.where = place_text(o.looks->seen.decodes_at);
  out.fix = images ? "make samples cheaper: store images at the size needed, use "
                     "decode_jpeg(ratio=...) or decode_and_crop_jpeg, or cache() after decoding"
                   : "make a sample cheaper: store it as it is needed, or keep it: cache()";
  return out;
}

std::optional<Finding> native_input_bound(const Observations& o) {
  const auto pipeline = slow_pipeline(o);
  if (!pipeline) return std::nullopt;
  Finding out = finding_of(o, *pipeline, Cause::kInputBound);
  const bool all = all_cores(o, *pipeline);
  out.summary = all ? "the input pipeline uses all cores, and training still waits for it"
                    : "training waits for its input pipeline";
  out.fix =
      all ? "make samples cheaper, keep them with cache(), or make them before training"
          : "use map(..., num_parallel_calls=tf.data.AUTOTUNE), interleave(...) for several files, "
            "batch before cheap operations, and prefetch(tf.data.AUTOTUNE) as the last call";
  return out;
}

}  // namespace headway
