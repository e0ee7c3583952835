#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr int64_t kEnough = 60;  // looks: three seconds
constexpr double kAlways = 0.7;  // of the time
constexpr double kMuch = 0.5;
constexpr double kNothingYetS = 9;   // without a batch
constexpr double kInVainS = 18;      // reading all the time, without result
constexpr double kQuietRead = 20e3;  // bytes per second: no data comes in
constexpr double kStillS = 7;        // workers that do not move
constexpr double kIdleCores = 0.03;
constexpr double kWaits = 0.9;  // of the time, for the first batch

// TensorFlow's training thread is in its first call and waits for other threads.
double waits_for_first_batch(const OutsideEvidence& e) {
  return e.late_share([](const SeenStack& s) {
    return on_main(s) && s.wait == Wait::kLock &&
           (s.activity == Activity::kStep || s.activity == Activity::kFetch ||
            s.activity == Activity::kFit);
  });
}

double cores_of_input(const OutsideEvidence& e) {
  double cores = 0;
  for (const SeenThreads& each : e.seen.threads)
    if (!each.main && !each.model) cores += each.cores;
  return cores;
}

// A program that shuffles makes many samples, keeps them (its memory grows), and has not trained on
// one yet; a program that drops its samples, or finds none, keeps nothing.
bool fills_unsaid(const OutsideEvidence& e) {
  constexpr double kBusy = 0.5;
  if (!e.running() || e.stepped() || !e.training() || e.seen.shuffles_at.line == 0) return false;
  if (e.training_s() < kNothingYetS || !e.memory_grows()) return false;
  const bool inside =
      e.seen.model_threads > 0 && waits_for_first_batch(e) >= kWaits && cores_of_input(e) >= kBusy;
  return inside || e.late_share(producing) >= kAlways;
}

// Memory in use when training began and at the first step, and how fast it grew later.
struct Filling {
  double seconds = 0, grown = 0, later_per_s = 0;
};

Filling filling(const OutsideEvidence& e) {
  const double since = e.seen.training_since_s, until = e.seen.progress.first_step_s;
  const TraceReading *begin = nullptr, *full = nullptr;
  for (const TraceReading& sample : e.trace.samples) {
    if (!begin && sample.at_s >= since) begin = &sample;
    if (!full && sample.at_s >= until) full = &sample;
  }
  if (!begin || !full) return {};
  const TraceReading& now = e.trace.samples.back();
  const auto grown = [](const TraceReading& from, const TraceReading& to) {
    return double(to.system.rss_bytes) - double(from.system.rss_bytes);
  };
  // The first steps allocate weights and gradients.
  constexpr double kSettlesS = 2;
  const TraceReading* settled = full;
  for (const TraceReading& sample : e.trace.samples)
    if (sample.at_s <= full->at_s + kSettlesS) settled = &sample;
  return {until - since, grown(*begin, *full),
          now.at_s > settled->at_s ? grown(*settled, now) / (now.at_s - settled->at_s) : 0};
}

// The buffer was filled, and that took a large part of the watch.
bool has_filled(const OutsideEvidence& e) {
  constexpr double kGrown = 50e6, kOfTheWatch = 0.4, kLess = 0.3, kHardlyAny = 0.02;
  if (!e.stepped() || !e.training() || e.seen.shuffles_at.line == 0 || !e.seen.launched)
    return false;
  // Samples were made here, or waited for; if a graph was built, its compiling looks like such a
  // wait, too.
  const double traced = e.training_share(
      [](const SeenStack& s) { return on_main(s) && s.activity == Activity::kTrace; });
  const double made = e.training_share([&](const SeenStack& s) {
    return producing(s) || (traced < kHardlyAny && on_main(s) && s.wait == Wait::kLock &&
                            (s.activity == Activity::kStep || s.activity == Activity::kFetch ||
                             s.activity == Activity::kFit));
  });
  if (made < kOfTheWatch || traced > kOfTheWatch / 2) return false;
  const Filling f = filling(e);
  return f.seconds >= kNothingYetS && f.grown >= kGrown &&
         f.seconds >= kOfTheWatch * (e.seen.at_s - e.seen.training_since_s) &&
         f.later_per_s < kLess * f.grown / f.seconds;
}

std::string rss_text(const OutsideEvidence& e) {
  const SeenProcess* main = e.main();
  return main ? fmt::format("the process holds {}", size_text(double(main->rss_bytes))) : "";
}

}  // namespace

// No sample was ever made, although something is busy trying.
std::optional<Finding> source_never_yields(const OutsideEvidence& e) {
  if (!e.running() || e.stepped() || !e.training()) return std::nullopt;
  if (e.workers() > 0 && !e.trains_itself()) return std::nullopt;  // they do the training
  if (e.training_s() < kNothingYetS) return std::nullopt;
  const double busy = e.late_share([](const SeenStack& s) { return producing(s); });
  // Stacks of workers are read in turn, and some of them are torn.
  if (busy < (e.workers() > 0 ? kMuch : kAlways) || e.late_samples() < kEnough) return std::nullopt;
  const bool empty_list = e.seen.batch_is_empty;
  const bool missing = !e.seen.missing_files.empty();
  const bool nothing_read = e.seen.read_rate < kQuietRead;
  const double spins =
      e.late_share([](const SeenStack& s) { return producing(s) && running_on_core(s); });
  const bool endless = !e.seen.endless.empty();
  // A program that keeps reading may still deliver something, but not forever.
  const bool in_vain = nothing_read ? empty_list || endless : endless && e.training_s() >= kInVainS;
  if (!missing && (fills_unsaid(e) || spins < kMuch || !in_vain)) return std::nullopt;
  const HotLine hot = e.hottest(producing, true);
  Finding f{.cause = Cause::kSourceNeverYields,
            .severity = Severity::kCritical,
            .confidence = missing ? 0.95 : 0.8,
            .summary = "no batch was ever produced"};
  if (missing) {
    f.evidence.push_back(fmt::format("{} (no such file in the working directory of the process)",
                                     e.seen.missing_files[0]));
    f.fix =
        "correct the path or create the files; count what is skipped, and raise an error when "
        "everything is";
  } else {
    f.fix =
        "check the condition that decides what is yielded: nothing passes it; raise an error when "
        "a whole pass yields nothing";
  }
  f.evidence.push_back(
      fmt::format("the source has been at work for {} and gave nothing; {} per second "
                  "are read, {:.2f} cores busy",
                  duration_text(e.training_s()), size_text(e.seen.read_rate), e.seen.cores));
  if (hot.frame) f.where = place_text(*hot.frame);
  if (empty_list) f.evidence.push_back("the list that should hold the batch is empty");
  return f;
}

// Training waits at a queue, and the thread that should fill it works but delivers nothing.
std::optional<Finding> thread_never_yields(const OutsideEvidence& e) {
  const SeenProcess* main = e.main();
  if (!e.running() || e.stepped() || !main || !main->waits_for_worker || e.memory_grows())
    return std::nullopt;
  if (std::max(e.training_s(), e.seen.main_still_s) < kInVainS || e.late_samples() < kEnough)
    return std::nullopt;
  const auto feeds = [](const SeenStack& s) {
    return s.process == Role::kMain && !s.main_thread && s.user_frame() && running_on_core(s);
  };
  const double waits =
      e.late_share([](const SeenStack& s) { return on_main(s) && s.wait == Wait::kLock; });
  if (waits < kWaits || e.late_share(feeds) < kMuch) return std::nullopt;
  const HotLine hot = e.hottest(feeds, true);
  return Finding{
      .cause = Cause::kSourceNeverYields,
      .severity = Severity::kCritical,
      .confidence = 0.75,
      .summary = fmt::format(
          "a background thread{} has been making the first batch for {} and has not delivered it",
          hot.frame ? fmt::format(" (in {})", hot.frame->function) : "",
          duration_text(e.seen.main_still_s)),
      .evidence = {fmt::format(
          "the training waits at a queue for {}; {} per second are read, {:.2f} "
          "cores busy",
          duration_text(e.seen.main_still_s), size_text(e.seen.read_rate), e.seen.cores)},
      .where = hot.frame ? place_text(*hot.frame) : "",
      .fix =
          "check whether this thread swallows errors (`except: pass`) or skips every sample "
          "because of a condition; raise an error when a whole pass over the data gives no sample"};
}

// TensorFlow's input runs on its own threads, which rest when their buffers are full. Here they
// read on and on, and no step was ever made.
std::optional<Finding> pipeline_never_yields(const OutsideEvidence& e) {
  constexpr double kLongWithoutS = 14, kWorks = 0.25, kBusy = 0.5, kReads = 1e6;
  constexpr double kVeryLongS = 25;  // a step may take long, but reads nothing
  if (!e.running() || e.stepped() || e.seen.model_threads == 0) return std::nullopt;
  const double waits = waits_for_first_batch(e);
  const double cores = cores_of_input(e);
  const bool fills =
      (e.seen.output.shuffle_size > 0 && !e.seen.output.shuffle_filled) || fills_unsaid(e);
  const bool works = (cores >= kBusy && e.training_s() >= kVeryLongS) ||
                     (cores >= kWorks && e.seen.read_rate >= kReads);
  if (e.training_s() < kLongWithoutS || waits < kWaits || !works || fills) return std::nullopt;
  const HotLine hot = e.hottest(on_main, true);
  Finding f{.cause = Cause::kSourceNeverYields,
            .severity = Severity::kCritical,
            .confidence = 0.65,
            .summary = "the input pipeline is working, but it has not given a batch yet",
            .evidence = {fmt::format("for {} the training waits for its first batch; {} per second "
                                     "are read, {:.2f} cores busy",
                                     duration_text(e.training_s()), size_text(e.seen.read_rate),
                                     e.seen.cores)},
            .fix =
                "check filter(), take_while() and code that skips errors: nothing passes; try "
                "`next(iter(dataset))` on each part of the pipeline"};
  if (hot.frame) f.where = place_text(*hot.frame);
  return f;
}

// All workers wait for a lock that nothing will release.
std::optional<Finding> worker_deadlock(const OutsideEvidence& e) {
  if (!e.running() || e.workers() == 0) return std::nullopt;
  const SeenProcess* main = e.main();
  if (!main || main->cores > kIdleCores || e.seen.main_still_s < kStillS / 2) return std::nullopt;
  int64_t stuck = 0, other = 0;
  const SeenProcess* shown = nullptr;
  for (const SeenProcess& p : e.seen.processes) {
    if (p.role != Role::kWorker || !p.there() || !p.ending.empty()) continue;
    const bool users =
        std::any_of(p.stack.begin(), p.stack.end(), [](const SeenFrame& f) { return f.users; });
    const bool waits = users && p.wait == Wait::kLock;
    // Waiting at a full pipe while the main process waits for the workers to end is not a lock.
    const bool writes = p.wait == Wait::kPipe && main->wait == Wait::kChild;
    const bool both = main->waits_for_worker && !writes &&
                      (p.wait == Wait::kLock || p.wait == Wait::kPoll || p.wait == Wait::kPipe);
    if (!p.waits_for_task && p.still_s >= kStillS && p.cores < kIdleCores && (waits || both)) {
      ++stuck;
      shown = &p;
    } else if (p.cores > kIdleCores) {
      ++other;
    }
  }
  if (stuck == 0 || other > 0) return std::nullopt;
  Finding f{
      .cause = Cause::kWorkerDeadlock,
      .severity = Severity::kCritical,
      .confidence = shown->wait == Wait::kLock ? 0.9 : 0.7,
      .summary = fmt::format("{} of {} workers wait for a lock that is never released, and the "
                             "training waits for them",
                             stuck, e.workers())};
  f.where = users_place(*shown);
  f.evidence.push_back(fmt::format("same stack for {}, no CPU used, waiting for: {}",
                                   duration_text(shown->still_s), text_of(shown->wait)));
  if (const std::string place = users_place(*main); !place.empty())
    f.evidence.push_back("the main process waits at " + place);
  f.fix =
      "a lock held by a thread while the workers were forked stays locked in them for ever: start "
      "workers before threads, make the lock inside the worker, or use the spawn start method "
      "(multiprocessing_context=\"spawn\"); cv2.setNumThreads(0), OMP_NUM_THREADS=1 for libraries";
  return f;
}

std::optional<Finding> shuffle_fill(const OutsideEvidence& e) {
  const SeenOutput& out = e.seen.output;
  constexpr const char* kSmaller =
      "shuffle the file names before they are read and decoded, or use a smaller buffer_size in "
      "shuffle()";
  if (out.shuffle_size <= 0 && fills_unsaid(e))
    return Finding{
        .cause = Cause::kShuffleFill,
        .severity = Severity::kHigh,
        .confidence = 0.75,
        .summary = "not stuck: samples are first collected for shuffling, so no batch has come yet",
        .evidence = {fmt::format("for {} the input has been at work with {:.2f} cores, and memory "
                                 "grows",
                                 duration_text(e.training_s()), e.seen.cores),
                     rss_text(e)},
        .where = place_text(e.seen.shuffles_at),
        .fix = kSmaller};
  if (has_filled(e))
    return Finding{.cause = Cause::kShuffleFill,
                   .severity = Severity::kHigh,
                   .confidence = 0.75,
                   .summary = fmt::format(
                       "the first batch came after {}: samples were first collected for shuffling",
                       duration_text(filling(e).seconds)),
                   .evidence = {fmt::format("memory grew by {} until then, and hardly afterwards",
                                            size_text(filling(e).grown))},
                   .where = place_text(e.seen.shuffles_at),
                   .fix = kSmaller};
  if (out.shuffle_size <= 0 || out.shuffle_filled || !e.running() || e.stepped())
    return std::nullopt;
  const double rate = out.shuffle_last_s > out.shuffle_first_s
                          ? double(out.shuffle_fill - out.shuffle_first) /
                                (out.shuffle_last_s - out.shuffle_first_s)
                      : e.training_s() > 0 ? double(out.shuffle_fill) / e.training_s()
                                           : 0;
  const double left = rate > 0 ? double(out.shuffle_size - out.shuffle_fill) / rate : -1;
  Finding f{.cause = Cause::kShuffleFill,
            .severity = Severity::kHigh,
            .confidence = 0.95,
            .summary = "not stuck: the shuffle buffer is filled before the first batch comes",
            .evidence = {fmt::format(
                "{} of {} elements are in it{}", with_commas(out.shuffle_fill),
                with_commas(out.shuffle_size),
                left >= 0 ? fmt::format("; full in about {}", duration_text(left)) : "")},
            .where = e.seen.shuffles_at.line > 0 ? place_text(e.seen.shuffles_at)
                                                 : fmt::format("shuffle({})", out.shuffle_size),
            .fix = kSmaller};
  f.evidence.push_back(rss_text(e));
  return f;
}

}  // namespace headway
