#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr int64_t kEnough = 60;     // looks: three seconds
constexpr double kMainWaits = 0.3;  // of the training thread's time, waiting for a batch
constexpr double kMuch = 0.5;
constexpr double kBlocked = 0.3;    // of a producer's time, in one kind of wait
constexpr double kMostCores = 0.8;  // of those it may use: used, or waited for

bool fetching(const SeenStack& s) {
  return on_main(s) && (s.activity == Activity::kFetch || s.activity == Activity::kPipeline);
}
bool stepping(const SeenStack& s) { return on_main(s) && s.activity == Activity::kStep; }
bool made_on_main(const SeenStack& s) { return on_main(s) && s.activity == Activity::kProduce; }

// The training thread is in a call of the framework and waits for other threads.
double waiting_inside(const OutsideEvidence& e) {
  return e.training_share([](const SeenStack& s) {
    return on_main(s) && s.wait == Wait::kLock &&
           (s.activity == Activity::kStep || s.activity == Activity::kFetch);
  });
}

// TensorFlow decodes in its own threads, which have no Python stacks and no names. The bytes they
// read show how much they decode.
std::optional<Finding> decode_in_tensorflow(const OutsideEvidence& e) {
  constexpr double kDecodedPerCoreS = 50e6;  // bytes of JPEG that the fastest decoders reach
  constexpr double kAtLeast = 0.5;           // of the cores in use, by this estimate
  const double waiting = waiting_inside(e);
  const double decoders = e.seen.read_rate / kDecodedPerCoreS;
  if (e.seen.decodes_at.line == 0 || waiting < kMuch || !e.stepped() ||
      e.seen.wanted_cores < kMostCores * e.cpus() || decoders < kAtLeast * e.seen.cores)
    return std::nullopt;
  Finding f{
      .cause = Cause::kDecodeSaturated,
      .severity = Severity::kWarning,
      .confidence = 0.65,
      .summary = "most of the cores' time goes to decoding images, and the training waits",
      .evidence = {fmt::format("{} per second are read and decoded; {:.2f} of {:.3g} cores "
                               "are busy",
                               size_text(e.seen.read_rate), e.seen.cores, e.cpus()),
                   fmt::format("the training thread waits {:.0f}% of the time", 100 * waiting)},
      .where = place_text(e.seen.decodes_at),
      .fix =
          "make samples cheaper: store images at the size needed, use decode_jpeg(ratio=...) or "
          "decode_and_crop_jpeg, or cache() after decoding"};
  add_pace(f, e);
  return f;
}

}  // namespace

// Many thousand tiny reads a second, while the training waits.
std::optional<Finding> many_small_reads(const OutsideEvidence& e) {
  constexpr double kReadsPerS = 1500, kSmallRead = 4096, kLongEnoughS = 4;
  if (e.training_samples() < kEnough || e.trace.samples.size() < 8) return std::nullopt;
  const TraceReading& to = e.trace.samples.back();
  const TraceReading* from = &to;
  for (size_t i = e.trace.samples.size(); i-- > 0 && to.at_s - from->at_s < kLongEnoughS;)
    from = &e.trace.samples[i];
  const double seconds = to.at_s - from->at_s;
  const auto calls = double(to.system.read_calls - from->system.read_calls);
  const auto bytes = double(to.system.read_bytes - from->system.read_bytes);
  const double waiting = waiting_inside(e);
  if (seconds < kLongEnoughS || calls < kReadsPerS * seconds || bytes > kSmallRead * calls ||
      waiting < kMuch)
    return std::nullopt;
  return Finding{
      .cause = Cause::kManySmallFiles,
      .severity = Severity::kHigh,
      .confidence = 0.7,
      .summary = "the training waits for data, which comes in very many tiny reads",
      .evidence = {fmt::format("{:.0f} reads per second of {} each", calls / seconds,
                               size_text(bytes / calls)),
                   fmt::format("the training thread waits {:.0f}% of the time", 100 * waiting)},
      .fix = "pack samples into a few large files (TFRecord, tar shards) and read those"};
}

// Share of the training thread's time in which it is ready but has no core. On a GPU a step waits
// for other things, too, which cannot be told apart from this.
double starved_share(const OutsideEvidence& e) {
  const bool crowded = e.seen.wanted_cores >= 2 * e.cpus();
  const bool gpu = std::any_of(e.seen.gpus.begin(), e.seen.gpus.end(),
                               [](const SeenGpu& each) { return each.used; });
  if (!crowded || gpu) return 0;
  double cores = 0;
  for (const SeenThreads& each : e.seen.threads)
    if (each.main) cores = each.cores;
  return std::max(0.0, e.training_share(stepping) - cores);
}

// Workers of a loader end and new ones start, as at the end of every epoch.
bool starts_anew(const OutsideEvidence& e) {
  constexpr int64_t kGenerations = 3;
  const bool loads =
      e.count([](const SeenStack& s) { return fetching(s) && s.maker == Maker::kTorchWorker; }) > 0;
  return loads && e.ended_workers() >= kGenerations * std::max<int64_t>(1, e.workers());
}

// PyTorch's DataLoader: no workers, too few, too many, or new ones all the time.
std::optional<Finding> dataloader_workers(const OutsideEvidence& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const double inline_share = e.training_share(
      [](const SeenStack& s) { return on_main(s) && s.maker == Maker::kTorchInline; });
  const double waiting = e.training_share(fetching);
  const bool ever_stepped = e.stepped() || e.count(stepping) > 0;
  const auto makes = [](const SeenStack& s) {
    return s.training && s.activity == Activity::kProduce &&
           (s.maker == Maker::kTorchInline || s.maker == Maker::kTorchWorker);
  };
  Finding f{.cause = Cause::kDataloaderWorkers, .confidence = 0.9};
  const HotLine hot = e.hottest(makes);
  if (inline_share >= kMainWaits && ever_stepped) {
    f.severity = inline_share >= kMuch ? Severity::kHigh : Severity::kWarning;
    f.summary = "the DataLoader has no workers: the training thread makes every batch itself";
    f.evidence = {
        fmt::format("{:.0f}% of the training thread's time is spent in the dataset, "
                    "num_workers=0",
                    100 * inline_share)};
    f.fix = fmt::format("DataLoader(..., num_workers={:.0f}, persistent_workers=True)",
                        std::max(1.0, e.cpus()));
    f.predicted_gain = 1 / std::max(1 - inline_share, inline_share / std::max(1.0, e.cpus()));
  } else if (waiting >= kMainWaits && starts_anew(e)) {
    f.severity = waiting >= kMuch ? Severity::kHigh : Severity::kWarning;
    f.confidence = 0.8;
    f.summary =
        "the DataLoader starts new workers again and again, and the training waits for them";
    f.evidence = {
        fmt::format("{} workers have come and gone in {}; the training thread waits for "
                    "batches {:.0f}% of the time",
                    e.ended_workers(), duration_text(e.seen.at_s), 100 * waiting)};
    f.fix =
        "DataLoader(..., persistent_workers=True); make the loader once, outside the loop; "
        "longer epochs";
    f.predicted_gain = 1 / std::max(0.05, 1 - waiting);
  } else if (const double starved = starved_share(e);
             e.workers() > 0 && waiting + starved >= kMainWaits && ever_stepped) {
    const double asked = double(e.workers());
    const bool crowd = asked >= 2 * e.cpus() && e.seen.ready_share >= 0.3;
    const bool few = asked < e.cpus() && e.seen.wanted_cores < kMostCores * e.cpus();
    if (!crowd && !few) return std::nullopt;
    f.severity = waiting + starved >= kMuch ? Severity::kHigh : Severity::kWarning;
    f.confidence = 0.8;
    f.summary = crowd ? fmt::format("{} workers share {:.3g} cores and get in each other's way",
                                    e.workers(), e.cpus())
                      : fmt::format("{} worker{} cannot keep up while cores are idle", e.workers(),
                                    e.workers() == 1 ? "" : "s");
    f.evidence = {
        fmt::format("{:.0f}% of the training thread's time waits for a batch{}", 100 * waiting,
                    starved > 0 ? fmt::format(", {:.0f}% for a core", 100 * starved) : ""),
        fmt::format("{:.2f} of {:.3g} cores are used; ready threads had no core {:.0f}% of their "
                    "time",
                    e.seen.cores, e.cpus(), 100 * e.seen.ready_share)};
    f.fix = fmt::format("num_workers={:.0f}: as many as there are cores", std::max(1.0, e.cpus()));
  } else {
    return std::nullopt;
  }
  if (hot.frame)
    f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "making samples"));
  add_pace(f, e);
  return f;
}

// The threads that make samples mostly wait for the disk, or for files to be opened.
std::optional<Finding> storage(const OutsideEvidence& e) {
  const int64_t all = e.count(made);
  if (e.training_samples() < kEnough || all < kEnough) return std::nullopt;
  if (e.training_share(made) + e.training_share(fetching) < kMainWaits) return std::nullopt;
  const auto share = [&](Wait wait) {
    return double(e.count([&](const SeenStack& s) { return made(s) && s.wait == wait; })) /
           double(all);
  };
  const double disk = share(Wait::kDisk), opening = share(Wait::kOpen);
  if (disk < kBlocked && opening < kBlocked) return std::nullopt;
  const bool network = !e.seen.network_files.empty();
  const bool files = opening >= disk;
  Finding f{.cause = network ? Cause::kNetworkStorage
                     : files ? Cause::kManySmallFiles
                             : Cause::kSlowStorage,
            .severity = std::max(disk, opening) >= kMuch ? Severity::kHigh : Severity::kWarning,
            .confidence = 0.8,
            .summary = network ? "the training waits for samples that are read over the network"
                       : files ? "most of the time goes to opening files"
                               : "the disk is too slow: the training waits for it",
            .evidence = {fmt::format(
                "who makes samples waits {:.0f}% of the time for reading and {:.0f}% for "
                "opening files",
                100 * disk, 100 * opening)},
            .fix = files
                       ? "pack samples into a few large files (TFRecord, tar shards)"
                       : "read with more workers at once, keep a copy on a local disk, or cache()"};
  const HotLine hot = e.hottest(made);
  if (hot.frame) f.where = place_text(*hot.frame);
  if (network) f.evidence.push_back(e.seen.network_files[0]);
  return f;
}

// Worker processes work at full speed, but that is not enough.
std::optional<Finding> decode_saturated(const OutsideEvidence& e) {
  if (e.training_samples() < kEnough || !e.trains_itself()) return std::nullopt;
  if (e.workers() == 0) return decode_in_tensorflow(e);
  const double waiting = e.training_share(fetching);
  if (waiting < kMuch || e.seen.wanted_cores < kMostCores * e.cpus()) return std::nullopt;
  const auto by_workers = [](const SeenStack& s) { return made(s) && s.process == Role::kWorker; };
  const HotLine hot = e.hottest(by_workers);
  if (!hot.frame) return std::nullopt;
  return Finding{
      .cause = Cause::kDecodeSaturated,
      .severity = Severity::kHigh,
      .confidence = 0.75,
      .summary = "all cores are busy making samples, and the training still waits for data",
      .evidence = {fmt::format("{:.0f}% of the training thread's time waits for a batch; {:.2f} of "
                               "{:.3g} cores are busy",
                               100 * waiting, e.seen.cores, e.cpus()),
                   hot_text(hot, "the workers' time")},
      .where = place_text(*hot.frame),
      .fix =
          "make samples cheaper: decode at the size needed, store images already resized, cache "
          "them, or decode with a faster library than PIL (torchvision.io, tf.io)"};
}

// The training thread waits for its data, and no rule above knows why.
std::optional<Finding> input_bound(const OutsideEvidence& e) {
  if (e.training_samples() < kEnough || !e.trains_itself()) return std::nullopt;
  const double waiting =
      e.training_share([](const SeenStack& s) { return fetching(s) || made_on_main(s); });
  if (waiting < kMainWaits) return std::nullopt;
  const HotLine hot = e.hottest([](const SeenStack& s) { return made(s); });
  Finding f{.cause = Cause::kInputBound,
            .severity = waiting >= kMuch ? Severity::kHigh : Severity::kWarning,
            .confidence = 0.75,
            .summary = "the training waits for data",
            .evidence = {fmt::format(
                "{:.0f}% of the training thread's time is spent getting batches", 100 * waiting)},
            .fix = "make samples in more workers, ahead of time (prefetch), or cheaper"};
  if (hot.frame)
    f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "making samples"));
  add_pace(f, e);
  return f;
}

}  // namespace headway
