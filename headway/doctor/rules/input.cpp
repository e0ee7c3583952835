// Data arrive, but too slowly.
#include <fmt/format.h>

#include <algorithm>

#include "headway/core/limits.h"
#include "headway/core/text.h"
#include "headway/doctor/rules/counters.h"

namespace headway {
namespace {

// Shares of a step spent waiting for data: XProf uses 5 and 20 per cent, others use 10.
constexpr double kNoted = 0.05, kWorthSaying = 0.10, kMuch = 0.20;
constexpr double kAlwaysBusy = 0.75;    // of the time, for a part that only one worker may run
constexpr double kWorkersFull = 0.75;   // of the workers' time
constexpr double kMostOfTheWork = 0.4;  // a named operator's share of the feed
constexpr double kDiskStalls = 0.20;    // PSI: something waited for a disk
constexpr double kSmallRead = 256e3;    // bytes per sample
constexpr double kUploadShare = 0.10;
constexpr double kExplains = 0.4;       // of a step, for what is said to delay it
constexpr double kMostlyWaits = 0.5;    // CPU time relative to the workers' busy time
constexpr double kWorthMore = 1.25;     // times as many workers
constexpr double kWaitingWorkers = 64;  // about as many as the tuner starts
constexpr double kWorthDoing = 1.1, kMuchFaster = 1.5;  // gains
constexpr double kNoCore = 0.25;  // of the time in which threads were ready to run

Severity severity_of(double waiting) {
  if (waiting >= kMuch) return Severity::kHigh;
  return waiting >= kWorthSaying ? Severity::kWarning : Severity::kInfo;
}

bool any_operator(const Evidence& e, bool OpFacts::*is) {
  return std::any_of(e.run.operators.begin(), e.run.operators.end(),
                     [&](const OpFacts& op) { return op.*is; });
}

// The operators that only one worker at a time may run.
std::string serial_words(const Evidence& e) {
  std::string words;
  for (const OpFacts& op : e.run.operators)
    if (op.serial) words += (words.empty() ? "" : ", ") + op.name;
  return words;
}

bool measured(const Evidence& e) { return e.run.purpose == Purpose::kMeasure; }

struct Starved {
  double waiting;
  FeedDemand feed;
};

std::optional<Starved> starved(const Evidence& e) {
  if (!e.steady() || e.waiting_share() < kNoted) return std::nullopt;
  return Starved{e.waiting_share(), e.feed()};
}

std::string rates(const Evidence& e) {
  if (measured(e)) return fmt::format("a batch every {}", duration_text(e.step_s()));
  return fmt::format("{:.0f}% of each step waits for data: {} of {}", 100 * e.waiting_share(),
                     duration_text(e.step_s() - e.own_s()), duration_text(e.step_s()));
}

// Shared by the rules below; `feed_s` and `cpu_s` are the costs per step after the repair.
Finding finding_of(const Evidence& e, Cause cause, double feed_s, double cpu_s) {
  Finding f{.cause = cause, .severity = severity_of(e.waiting_share()), .evidence = {rates(e)}};
  if (const double alone = e.trace.replay.step_s; alone > 0) {
    f.evidence.push_back(fmt::format("measured without the feed: {} per step, {:.1f}x as fast",
                                     duration_text(alone), e.step_s() / alone));
  }
  if (const auto busy = e.gpu_busy()) {
    f.evidence.push_back(fmt::format("{} is busy {:.0f}% of the time", e.run.gpu, 100 * *busy));
  }
  const double gain = e.step_s() / std::max(1e-9, e.predicted_step_s(feed_s, cpu_s));
  f.predicted_gain = std::max(1.0, gain);
  // When a feed is only measured, nothing else is waited for: the possible gain decides.
  if (measured(e) && gain < kMuchFaster) f.severity = Severity::kWarning;
  if (measured(e) && gain < kWorthDoing) f.severity = Severity::kInfo;
  return f;
}

// CPU time per step of training and of the feed's remaining work; `guess_s` unless a replay has
// measured training alone.
double cpu_with(const Evidence& e, double feed_s, double guess_s) {
  return e.trace.replay.step_s > 0 ? e.own_cpu_s() + feed_s : guess_s;
}

bool one_at_a_time(const Evidence& e, const FeedDemand& feed) {
  return feed.serial_s >= kAlwaysBusy * e.step_s() && feed.serial_s >= feed.shared_s() * 0.9;
}

constexpr const char* kLeaveThreads =
    "leave the number of input threads to Headway (threads.input, --input-threads, "
    "Options.threads)";

// Its workers wait: for a lock, a disk, a server.
bool mostly_waits(const Evidence& e, const FeedDemand& feed) {
  const double own = e.trace.replay.step_s > 0 ? e.own_cpu_s() : 0;
  return e.cpu_per_step_s() - own < kMostlyWaits * feed.work_s;
}

// Even if training took all the CPU time it possibly could, the rest belongs to the workers.
bool surely_computes(const Evidence& e, const FeedDemand& feed) {
  return e.cpu_per_step_s() - e.own_cpu_s() >= kMostlyWaits * feed.work_s;
}

// They neither computed nor waited for a core.
bool stand_blocked(const Evidence& e, const FeedDemand& feed) {
  const double queued_s = (e.last.system.run_queue_wait_s - e.first.system.run_queue_wait_s) /
                          double(std::max<int64_t>(1, e.steps));
  return e.cores_idle() && !surely_computes(e, feed) &&
         e.cpu_per_step_s() + queued_s - e.own_cpu_s() < kMostlyWaits * feed.work_s;
}

}  // namespace

std::optional<Finding> serial_map(const Evidence& e) {
  const auto s = starved(e);
  if (!s) return std::nullopt;
  const FeedDemand& feed = s->feed;
  const std::string words = serial_words(e);
  const bool serial = one_at_a_time(e, feed) && !words.empty();
  const bool asked = !e.run.on_gpu() || e.run.input_threads == 1;
  const bool one_worker = !serial && asked && feed.threads < 2 && e.cpus() >= 2 &&
                          feed.work_s >= kAlwaysBusy * e.step_s() && e.cores_idle();
  if (!serial && !one_worker) return std::nullopt;
  // Headway's tuner takes more workers than cores when they mostly wait.
  const bool blocks = mostly_waits(e, feed);
  const double workers = blocks ? kWaitingWorkers : e.cores_to_be_had();
  Finding f = finding_of(e, Cause::kSerialMap, feed.work_s / workers,
                         blocks ? e.own_cpu_s() : e.cpu_per_step_s());
  f.confidence = 0.9;
  f.where = serial ? words : fmt::format("the feed's single worker, most of it in {}", feed.op);
  const double demand = serial ? feed.serial_s : feed.work_s;
  f.summary = fmt::format("one worker makes all samples, in {}", serial ? words : feed.op);
  f.evidence.push_back(fmt::format("it needs {} per batch and works {:.0f}% of the time",
                                   duration_text(demand),
                                   100 * std::min(1.0, demand / e.step_s())));
  f.evidence.push_back(fmt::format("{:.2f} of {:.3g} cores are used", e.cores_used(), e.cpus()));
  f.fix = serial ? "let it run on many elements at once: leave .num_parallel_calls = 1 out of "
                   "map(); a generator should only list things, with the work in a map() behind it"
                 : kLeaveThreads;
  return f;
}

// The user asked for fewer workers than would help, and these compute all the time.
std::optional<Finding> few_workers(const Evidence& e) {
  const auto s = starved(e);
  if (!s || s->waiting < kWorthSaying || e.run.input_threads < 2) return std::nullopt;
  const FeedDemand& feed = s->feed;
  if (one_at_a_time(e, feed) || !surely_computes(e, feed) || !e.cores_idle()) return std::nullopt;
  if (feed.shared_s() < kAlwaysBusy * e.step_s()) return std::nullopt;
  const double chosen = !e.run.on_gpu() ? e.cpus() : e.cpus() - cores_beside_gpu(e.cpus());
  const double workers = std::min(chosen, e.cores_to_be_had());
  if (workers < kWorthMore * double(e.run.input_threads)) return std::nullopt;
  Finding f = finding_of(e, Cause::kDataloaderWorkers, feed.work_s / workers, e.cpu_per_step_s());
  f.confidence = 0.9;
  f.where = fmt::format("{} input threads", e.run.input_threads);
  f.summary =
      fmt::format("{} workers make all samples where {:.0f} could", e.run.input_threads, workers);
  f.evidence.push_back(fmt::format(
      "they need {} per batch, most of it in {}, and work {:.0f}% of the time",
      duration_text(feed.shared_s()), feed.op, 100 * std::min(1.0, feed.shared_s() / e.step_s())));
  f.evidence.push_back(fmt::format("{:.2f} of {:.3g} cores are used", e.cores_used(), e.cpus()));
  f.fix = kLeaveThreads;
  return f;
}

std::optional<Finding> slow_storage(const Evidence& e) {
  const auto s = starved(e);
  if (!s || s->waiting < kWorthSaying) return std::nullopt;
  const FeedDemand& feed = s->feed;
  const bool serial = one_at_a_time(e, feed);
  if (serial && !serial_words(e).empty()) return std::nullopt;
  const FileReading files = e.last.files - e.first.files;
  const double waits_s = (files.open_s + files.read_s) / double(e.steps);
  const bool counted = files.opens + files.reads > 0;
  const bool reads =
      serial ? any_operator(e, &OpFacts::reads_files) || any_operator(e, &OpFacts::lists_files)
             : feed.op_facts.reads_files;
  if (!counted && !reads) return std::nullopt;
  const bool pressed = e.io_stalled_share() >= kDiskStalls && e.disk_bytes_per_s() > 0;
  const bool blocked = e.cores_idle() && !surely_computes(e, feed) &&
                       (serial || feed.shared_s() >= kWorkersFull * e.step_s());
  if (counted ? waits_s < kMostOfTheWork * feed.work_s : !blocked) return std::nullopt;
  const bool small =
      counted ? files.open_s >= files.read_s && e.read_bytes_per_element() < kSmallRead
              : any_operator(e, &OpFacts::lists_files) && e.read_bytes_per_element() > 0 &&
                    e.read_bytes_per_element() < kSmallRead;
  // The feed's remaining work: it cannot have taken more than the CPU time that was used.
  const double rest =
      counted ? std::clamp(feed.work_s - waits_s, 0.0, e.cpu_per_step_s()) : e.cpu_per_step_s();
  Finding f = finding_of(e, small ? Cause::kManySmallFiles : Cause::kSlowStorage,
                         counted ? rest / feed.threads : 0, cpu_with(e, rest, e.cpu_per_step_s()));
  f.confidence = counted ? 0.9 : pressed ? 0.85 : 0.6;
  if (counted) {
    const auto each = [](double seconds, int64_t count) {
      return count > 0 ? duration_text(seconds / double(count)) : std::string("-");
    };
    f.evidence.push_back(fmt::format(
        "{:.0f}% of the feed's work is waiting for files: {} opens of {}, {} reads of {}",
        100 * std::min(1.0, waits_s / feed.work_s), with_commas(files.opens),
        each(files.open_s, files.opens), with_commas(files.reads),
        each(files.read_s, files.reads)));
  }
  f.where = serial ? "the source" : feed.op;
  if (!serial) f.stage = feed.op_at;
  f.summary = small ? "opening and reading many small files takes longer than using them"
                    : "the storage is too slow: training waits for it";
  f.evidence.push_back(fmt::format("workers wait inside {} while {:.2f} of {:.3g} cores are used",
                                   f.where, e.cores_used(), e.cpus()));
  f.evidence.push_back(
      fmt::format("{} per sample, {} per second from disk; something waited for "
                  "a disk {:.0f}% of the time",
                  size_text(e.read_bytes_per_element()), size_text(e.disk_bytes_per_s()),
                  100 * e.io_stalled_share()));
  f.fix = small
              ? "pack the files into shards: headway convert SRC DST"
              : "copy the data to a local disk, or pack and compress it: headway convert SRC DST; "
                "cache() when it fits in memory";
  return f;
}

namespace {

// What would be saved per step by storing smaller images.
double pixel_work_s(const Evidence& e) {
  double sum = 0;
  for (size_t i = 0; i < std::min(e.trace.stages.size(), e.last.stages.size()); ++i) {
    const std::vector<double>& now = e.last.stages[i].op_busy_s;
    for (size_t k = 0; k < std::min(now.size(), e.trace.stages[i].ops.size()); ++k) {
      if (!e.trace.stages[i].ops[k].pixels) continue;
      const bool known = i < e.first.stages.size() && k < e.first.stages[i].op_busy_s.size();
      sum += now[k] - (known ? e.first.stages[i].op_busy_s[k] : 0);
    }
  }
  return e.steps > 0 ? sum / double(e.steps) : 0;
}

}  // namespace

std::optional<Finding> decode_saturated(const Evidence& e) {
  const auto s = starved(e);
  if (!s || !s->feed.op_facts.pixels) return std::nullopt;
  const FeedDemand& feed = s->feed;
  if (!e.cores_full()) return std::nullopt;
  if (feed.op_s < kMostOfTheWork * feed.work_s) return std::nullopt;
  const double pixels = pixel_work_s(e);
  const double rest = std::max(0.0, feed.work_s - pixels);
  Finding f = finding_of(e, Cause::kDecodeSaturated, rest / feed.threads,
                         cpu_with(e, rest, std::max(0.0, e.cpu_per_step_s() - pixels)));
  f.confidence = 0.85;
  f.where = fmt::format("{} in stage {}", feed.op, feed.op_stage);
  f.stage = feed.op_at;
  f.summary = measured(e)
                  ? "every core is busy with image operations: they limit the pipeline"
                  : "every core is busy with image operations, and training still waits for data";
  if (measured(e)) f.severity = Severity::kInfo, f.predicted_gain.reset();  // the work is needed
  f.evidence.push_back(fmt::format("{:.2f} of {:.3g} cores are used", e.cores_used(), e.cpus()));
  f.evidence.push_back(fmt::format("{} of work per batch in {}, {:.0f}% of the feed's",
                                   duration_text(feed.op_s), feed.op,
                                   100 * feed.op_s / feed.work_s));
  f.fix =
      "make the images smaller once (headway convert --resize), cache() what is decoded, or "
      "choose decode = fast; fewer augmentations; more cores";
  return f;
}

// The general rule: the ones above say more when they can.
std::optional<Finding> input_bound(const Evidence& e) {
  const auto s = starved(e);
  if (!s || serial_map(e) || few_workers(e) || slow_storage(e) || decode_saturated(e))
    return std::nullopt;
  const FeedDemand& feed = s->feed;
  // A feed that could easily keep up but waits for a core: neighbours are the cause, not the input.
  const double cpu = std::min(feed.work_s, e.cpu_per_step_s()) / e.cores_to_be_had();
  const double needs = std::max({feed.serial_s, feed.shared_s(), cpu});
  if (needs < kExplains * e.step_s() && !measured(e)) return std::nullopt;
  const bool blocked = stand_blocked(e, feed);
  const bool source = one_at_a_time(e, feed);
  const double most_expensive_s = source ? feed.serial_s : feed.op_s;
  Finding f = finding_of(e, Cause::kInputBound, (feed.work_s - most_expensive_s) / feed.threads,
                         blocked ? e.own_cpu_s() : e.cpu_per_step_s() - most_expensive_s);
  const std::string name = source ? "the source" : feed.op;
  f.confidence = name.empty() ? 0.6 : 0.8;
  f.where = source || name.empty() ? name : fmt::format("{} in stage {}", name, feed.op_stage);
  if (!source) f.stage = feed.op_at;
  const char* who =
      measured(e) ? "the pipeline is limited by its own work" : "training waits for data";
  f.summary = name.empty()
                  ? who
                  : fmt::format("{}, most of it {} {}", who, measured(e) ? "in" : "for", name);
  f.evidence.push_back(fmt::format("the feed needs {} of work per batch on {:.0f} workers",
                                   duration_text(feed.work_s), feed.threads));
  f.evidence.push_back(fmt::format("{:.2f} of {:.3g} cores are used", e.cores_used(), e.cpus()));
  if (measured(e) && !blocked) {
    f.severity = Severity::kInfo;  // the work is needed ...
    f.predicted_gain.reset();
    const double waited = e.last.system.run_queue_wait_s - e.first.system.run_queue_wait_s;
    const double ready = waited + e.last.system.cpu_s - e.first.system.cpu_s;
    if (feed.threads <= e.cpus() && waited > kNoCore * ready) {  // ... but not on shared cores
      f.severity = Severity::kWarning;
      f.summary = fmt::format(
          "other programs: the workers were ready and had no core {:.0f}% of their time{}",
          100 * waited / ready, name.empty() ? "" : "; most of their work is in " + name);
      f.fix = "measure again when the other programs have ended";
      return f;
    }
  }
  f.fix = blocked ? "that function waits (for a lock, a sleep or I/O): remove the wait, or use "
                    "more input threads than cores"
                  : "make that operator cheaper, do it once and cache(), or use more cores";
  return f;
}

std::optional<Finding> upload_bound(const Evidence& e) {
  const double share = e.share(StepPhase::kUpload);
  if (!e.steady() || !e.run.on_gpu() || share < kUploadShare) return std::nullopt;
  return Finding{
      .cause = Cause::kUploadBound,
      .severity = share >= kMuch ? Severity::kHigh : Severity::kWarning,
      .confidence = 0.7,
      .summary = fmt::format("copying batches to the GPU ({}) takes {:.0f}% of the training time",
                             e.run.device, 100 * share),
      .evidence = {fmt::format("{} per step",
                               duration_text(e.spent_s(StepPhase::kUpload) / double(e.steps)))},
      .where = "upload",
      .fix =
          "send images as uint8, a quarter of the bytes: remove .normalize() and conversions to "
          "float from the dataset, and make Rescaling(1.0 / 255) the first layer; for other "
          "data, use a smaller number type or fewer values",
      .predicted_gain = 1 / (1 - std::min(0.95, share))};
}

}  // namespace headway
