#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/outside.h"

namespace headway {
namespace {

constexpr int64_t kEnough = 60;      // samples: three seconds
constexpr double kAlwaysBusy = 0.7;  // of the time, for who makes the batches
constexpr double kMainWaits = 0.3;   // of the training thread's time, in getting a batch
constexpr double kMuch = 0.5;
constexpr double kInterpreted = 0.5;  // of a producer's time, in Python's own loop
constexpr double kBlocked = 0.3;      // of a producer's time, in one kind of wait
constexpr double kNothingYetS = 9;    // without a batch
constexpr double kQuietRead = 20e3;   // bytes per second: no data comes in
constexpr double kStillS = 7;         // workers that do not move
constexpr double kIdleCores = 0.03;
constexpr double kLongBeforeS = 8;  // of preparation
constexpr double kMostlyPreparing = 0.5;

using E = OutsideEvidence;

bool fetching(const SeenStack& s) { return on_main(s) && s.activity == "fetch"; }
bool made_on_main(const SeenStack& s) { return on_main(s) && s.activity == "produce"; }

// Samples made while training, by whoever makes them.
bool made(const SeenStack& s) { return s.training && producing(s); }

bool through(const SeenStack& s, const char* file) {
  return std::any_of(s.frames.begin(), s.frames.end(),
                     [&](const SeenFrame& f) { return f.file.find(file) != std::string::npos; });
}

bool is_sequence(const SeenStack& s) { return made(s) && through(s, "py_dataset_adapter.py"); }
bool is_generator(const SeenStack& s) {
  return made(s) && s.process == "main" && !is_sequence(s) &&
         (through(s, "from_generator_op.py") || through(s, "generator_data_adapter.py"));
}

// A function of the user's own inside map(): tf.numpy_function, tf.py_function.
bool is_mapped(const SeenStack& s) {
  return made(s) && s.process == "main" && through(s, "script_ops.py") &&
         !through(s, "from_generator_op.py");
}

std::string hot_text(const HotLine& hot, const char* of) {
  return fmt::format("{:.0f}% of {} is on this line{}", 100 * hot.share, of,
                     hot.library.empty() ? "" : fmt::format(", in {}", hot.library));
}

std::string pace_text(const E& e) {
  const SeenProgress& p = e.seen.progress;
  if (p.steps < 3 || p.step_s <= 0) return "";
  return fmt::format("{} per step", duration_text(p.step_s));
}

void add_if_said(Finding& f, const std::string& line) {
  if (!line.empty()) f.evidence.push_back(line);
}

// Nothing was ever made, while something is busy trying.
std::optional<Finding> source_never_yields(const E& e) {
  if (!e.running() || e.stepped() || !e.training()) return std::nullopt;
  if (e.training_s() < kNothingYetS) return std::nullopt;
  const double busy = e.late_share([](const SeenStack& s) { return producing(s); });
  if (busy < kAlwaysBusy || e.late_samples() < kEnough) return std::nullopt;
  bool empty_list = false;
  for (const SeenValue& v : e.seen.values) empty_list |= v.users && v.value == "list of 0";
  const bool missing = !e.seen.missing_files.empty();
  const bool nothing_read = e.seen.read_rate < kQuietRead;
  const double spins =
      e.late_share([](const SeenStack& s) { return producing(s) && running_on_core(s); });
  if (!missing && !(nothing_read && spins >= kMuch && (empty_list || !e.seen.endless.empty())))
    return std::nullopt;
  const HotLine hot = e.hottest(producing, true);
  Finding f{.cause = "source-never-yields",
            .severity = Severity::kCritical,
            .confidence = missing ? 0.95 : 0.8,
            .summary = "no batch was ever produced"};
  if (missing) {
    f.evidence.push_back(fmt::format("{} (no such file in the working directory of the process)",
                                     e.seen.missing_files[0]));
    f.fix =
        "correct the path or make the files; count what you skip and raise when it is everything";
  } else {
    f.fix =
        "look at the condition that decides what is yielded: nothing passes it; raise when a whole "
        "round gave nothing";
  }
  f.evidence.push_back(
      fmt::format("the source has been at work for {} and gave nothing; {} per second "
                  "are read, {:.2f} cores busy",
                  duration_text(e.training_s()), size_text(e.seen.read_rate), e.seen.cores));
  if (hot.frame) f.where = place_text(*hot.frame);
  if (empty_list) f.evidence.push_back("the list that should hold the batch is empty");
  return f;
}

// All workers stand on a lock that nobody will release.
std::optional<Finding> worker_deadlock(const E& e) {
  if (!e.running() || e.workers() == 0) return std::nullopt;
  const SeenProcess* main = e.main();
  if (!main || main->cores > kIdleCores || e.seen.main_still_s < kStillS / 2) return std::nullopt;
  int64_t stuck = 0, other = 0;
  const SeenProcess* shown = nullptr;
  for (const SeenProcess& p : e.seen.processes) {
    if (p.role != "worker" || p.state.empty() || !p.ending.empty()) continue;
    const bool users =
        std::any_of(p.stack.begin(), p.stack.end(), [](const SeenFrame& f) { return f.users; });
    const bool waits_for_work = std::any_of(p.stack.begin(), p.stack.end(), [](const SeenFrame& f) {
      return f.file.ends_with("multiprocessing/queues.py") && f.function.ends_with("get");
    });
    if (users && !waits_for_work && p.still_s >= kStillS && p.cores < kIdleCores &&
        (p.wait == "lock" || p.wait == "poll" || p.wait == "pipe")) {
      ++stuck;
      shown = &p;
    } else if (p.cores > kIdleCores) {
      ++other;
    }
  }
  if (stuck == 0 || other > 0) return std::nullopt;
  Finding f{
      .cause = "worker-deadlock",
      .severity = Severity::kCritical,
      .confidence = shown->wait == "lock" ? 0.9 : 0.7,
      .summary = fmt::format("{} of {} workers wait for a lock that is never released, and the "
                             "training waits for them",
                             stuck, e.workers())};
  for (const SeenFrame& frame : shown->stack) {
    if (!frame.users) continue;
    f.where = place_text(frame);
    break;
  }
  f.evidence.push_back(fmt::format("same stack for {}, no CPU used, waiting for: {}",
                                   duration_text(shown->still_s), shown->wait));
  for (const SeenFrame& frame : main->stack) {
    if (!frame.users) continue;
    f.evidence.push_back("the main process waits at " + place_text(frame));
    break;
  }
  f.fix =
      "a lock held by a thread while the workers were forked stays locked in them for ever: start "
      "workers before threads, make the lock inside the worker, or use the spawn start method "
      "(multiprocessing_context=\"spawn\"); cv2.setNumThreads(0), OMP_NUM_THREADS=1 for libraries";
  return f;
}

// Threads of one process that wait for each other.
std::optional<Finding> thread_deadlock(const E& e) {
  const SeenProcess* main = e.main();
  if (!main || !e.running() || main->wait != "lock" || main->still_s < kStillS ||
      e.seen.quiet_s < kStillS)
    return std::nullopt;
  if (e.seen.cores > kIdleCores || main->stack.empty() || !main->stack[0].users)
    return std::nullopt;
  const auto held = [](const SeenStack& s) {
    return s.process == "main" && s.thread == "other" && s.wait == "lock" && !s.frames.empty() &&
           s.frames[0].users;
  };
  const HotLine other = e.hottest(held, true);
  if (!other.frame || e.late_share(held) < kAlwaysBusy) return std::nullopt;
  return Finding{
      .cause = "worker-deadlock",
      .severity = Severity::kCritical,
      .confidence = 0.85,
      .summary = "two threads wait for locks that neither will release",
      .evidence = {fmt::format("the main thread waits at {}", place_text(main->stack[0])),
                   fmt::format("another one at {}", place_text(*other.frame)),
                   fmt::format("both for {}, no CPU used", duration_text(main->still_s))},
      .where = place_text(main->stack[0]),
      .fix = "take the locks in the same order everywhere, or hold one at a time"};
}

// What gives the data has stopped giving, and nothing else happens.
std::optional<Finding> source_went_silent(const E& e) {
  const SeenProcess* main = e.main();
  if (!main || !e.running() || e.seen.main_still_s < kStillS || e.seen.quiet_s < kStillS)
    return std::nullopt;
  if (!e.stepped() && !e.training()) return std::nullopt;
  if (e.seen.cores > kIdleCores || (main->wait != "socket" && main->wait != "pipe"))
    return std::nullopt;
  Finding f{.cause = "source-never-yields",
            .severity = Severity::kCritical,
            .confidence = 0.8,
            .summary = fmt::format("waits for data that does not come, in a {}", main->wait),
            .evidence = {fmt::format("the same stack for {}; {} steps before",
                                     duration_text(e.seen.main_still_s), e.seen.progress.steps)},
            .fix =
                "look at whoever should send it; give the connection a timeout, so that silence "
                "becomes an "
                "error that can be tried again"};
  for (const SeenFrame& frame : main->stack) {
    if (!frame.users) continue;
    f.where = place_text(frame);
    break;
  }
  return f;
}

// One part of the training's time is spent making samples in the training thread itself.
std::optional<Finding> per_pixel_python(const E& e) {
  if (!e.training() || e.training_samples() < kEnough) return std::nullopt;
  const auto makes = [](const SeenStack& s) { return s.training && s.activity == "produce"; };
  const double busy = e.training_share(makes);
  const double per_maker = e.workers() > 1 ? busy : std::min(1.0, busy);
  if (per_maker < kMainWaits || e.count(makes) < kEnough) return std::nullopt;
  const double interpreted = e.interpreted_share(makes);
  if (interpreted < kInterpreted) return std::nullopt;
  const HotLine hot = e.hottest(makes);
  if (!hot.frame) return std::nullopt;
  Finding f{
      .cause = "per-pixel-python",
      .severity = per_maker >= kMuch ? Severity::kHigh : Severity::kWarning,
      .confidence = 0.85,
      .summary =
          fmt::format("samples are made by a loop in Python itself: {}", hot.frame->function),
      .evidence = {fmt::format("{:.0f}% of the time spent making samples runs Python's own "
                               "instructions, not a library",
                               100 * interpreted),
                   hot_text(hot, "it")},
      .where = place_text(*hot.frame),
      .fix =
          "replace the loop by one call on the whole array (numpy, tf.image, torchvision): often "
          "a hundred times as fast; more workers only divide it"};
  add_if_said(f, pace_text(e));
  return f;
}

std::optional<Finding> sequence_on_main_thread(const E& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const double busy = e.training_share(is_sequence);
  if (busy < kAlwaysBusy) return std::nullopt;
  const int64_t at_once =
      e.count([](const SeenStack& s) { return is_sequence(s) && through(s, "pool.py"); });
  if (at_once > e.count(is_sequence) / 2) return std::nullopt;  // its workers are at it
  const HotLine hot = e.hottest(is_sequence);
  Finding f{
      .cause = "sequence-on-main-thread",
      .severity = Severity::kHigh,
      .confidence = 0.9,
      .summary = "one thread makes every batch of the Sequence, and the training waits for it",
      .evidence = {fmt::format("__getitem__ is at work {:.0f}% of the time",
                               100 * std::min(1.0, busy))},
      .fix =
          "super().__init__(workers=N, use_multiprocessing=True) in the Sequence (PyDataset), or "
          "move the work to tf.data: map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)"};
  if (hot.frame) f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "it"));
  add_if_said(f, pace_text(e));
  return f;
}

std::optional<Finding> python_generator(const E& e) {
  if (e.training_samples() < kEnough || !e.stepped()) return std::nullopt;
  const double busy = e.training_share(is_generator);
  if (busy < kAlwaysBusy) return std::nullopt;
  const HotLine hot = e.hottest(is_generator);
  const int64_t all = std::max<int64_t>(1, e.count(is_generator));
  const int64_t sleeps =
      e.count([](const SeenStack& s) { return is_generator(s) && s.wait == "sleep"; });
  Finding f{
      .cause = "python-generator",
      .severity = Severity::kHigh,
      .confidence = 0.9,
      .summary =
          "a Python generator makes every sample on one thread, and the training waits for it",
      .evidence = {fmt::format("the generator is at work {:.0f}% of the time",
                               100 * std::min(1.0, busy))},
      .fix =
          "let the generator only name things (paths, indices) and do the work in "
          "dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch(2) with tf.io and "
          "tf.image, or in worker processes"};
  if (hot.frame) f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "it"));
  if (2 * sleeps > all) f.evidence.push_back("most of it waits, without using a core");
  add_if_said(f, pace_text(e));
  return f;
}

std::optional<Finding> serial_map(const E& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const double busy = e.training_share(is_mapped);
  if (busy < kAlwaysBusy) return std::nullopt;
  const HotLine hot = e.hottest(is_mapped);
  Finding f{
      .cause = "serial-map",
      .severity = Severity::kHigh,
      .confidence = 0.85,
      .summary = "a Python function inside map() makes one sample after the other",
      .evidence = {fmt::format("it is at work {:.0f}% of the time", 100 * std::min(1.0, busy))},
      .fix =
          "write it with TensorFlow's own operators (tf.image, tf.math) and give map "
          "num_parallel_calls=tf.data.AUTOTUNE; Python's lock lets one thread run at a time"};
  if (hot.frame) f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "it"));
  add_if_said(f, pace_text(e));
  return f;
}

// Many thousand reads a second of next to nothing each, while the training waits.
std::optional<Finding> many_small_reads(const E& e) {
  constexpr double kReadsPerS = 1500, kSmallRead = 4096, kLongEnoughS = 4;
  if (e.training_samples() < kEnough || e.trace.samples.size() < 8) return std::nullopt;
  const TraceSample& to = e.trace.samples.back();
  const TraceSample* from = &to;
  for (size_t i = e.trace.samples.size(); i-- > 0 && to.at_s - from->at_s < kLongEnoughS;)
    from = &e.trace.samples[i];
  const double seconds = to.at_s - from->at_s;
  const auto calls = double(to.system.read_calls - from->system.read_calls);
  const auto bytes = double(to.system.read_bytes - from->system.read_bytes);
  const double waiting = e.training_share([](const SeenStack& s) {
    return on_main(s) && s.wait == "lock" && (s.activity == "step" || s.activity == "fetch");
  });
  if (seconds < kLongEnoughS || calls < kReadsPerS * seconds || bytes > kSmallRead * calls ||
      waiting < kMuch)
    return std::nullopt;
  return Finding{
      .cause = "many-small-files",
      .severity = Severity::kHigh,
      .confidence = 0.7,
      .summary = "the data come in very many tiny reads, and the training waits",
      .evidence = {fmt::format("{:.0f} reads per second of {} each", calls / seconds,
                               size_text(bytes / calls)),
                   fmt::format("the training thread waits {:.0f}% of the time", 100 * waiting)},
      .fix = "pack samples into few large files (TFRecord, tar shards) and read those"};
}

// PyTorch's DataLoader: none, too few or too many workers.
std::optional<Finding> dataloader_workers(const E& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const double inline_share = e.training_share([](const SeenStack& s) {
    return on_main(s) && s.activity == "produce" && through(s, "torch/utils/data/dataloader.py");
  });
  const double waiting = e.training_share(fetching);
  const auto makes = [](const SeenStack& s) {
    return s.training && s.activity == "produce" && through(s, "torch/utils/data/");
  };
  Finding f{.cause = "dataloader-workers", .confidence = 0.9};
  const HotLine hot = e.hottest(makes);
  if (inline_share >= kMainWaits) {
    f.severity = inline_share >= kMuch ? Severity::kHigh : Severity::kWarning;
    f.summary = "the DataLoader has no workers: the training thread makes every batch itself";
    f.evidence = {
        fmt::format("{:.0f}% of the training thread's time is spent in the dataset, "
                    "num_workers=0",
                    100 * inline_share)};
    f.fix = fmt::format("DataLoader(..., num_workers={:.0f}, persistent_workers=True)",
                        std::max(1.0, e.cpus()));
    f.predicted_gain = 1 / std::max(1 - inline_share, inline_share / std::max(1.0, e.cpus()));
  } else if (e.workers() > 0 && waiting >= kMainWaits) {
    const double asked = double(e.workers());
    const bool crowd = asked >= 2 * e.cpus() && e.seen.ready_share >= 0.3;
    const bool few = asked < e.cpus() && e.seen.cores < 0.8 * e.cpus();
    if (!crowd && !few) return std::nullopt;
    f.severity = waiting >= kMuch ? Severity::kHigh : Severity::kWarning;
    f.confidence = 0.8;
    f.summary = crowd ? fmt::format("{} workers share {:.3g} cores and get in each other's way",
                                    e.workers(), e.cpus())
                      : fmt::format("{} worker{} cannot keep up while cores are idle", e.workers(),
                                    e.workers() == 1 ? "" : "s");
    f.evidence = {
        fmt::format("{:.0f}% of the training thread's time waits for a batch", 100 * waiting),
        fmt::format("{:.2f} of {:.3g} cores are used; ready threads had no core {:.0f}% of their "
                    "time",
                    e.seen.cores, e.cpus(), 100 * e.seen.ready_share)};
    f.fix = fmt::format("num_workers={:.0f}: as many as there are cores", std::max(1.0, e.cpus()));
  } else {
    return std::nullopt;
  }
  if (hot.frame)
    f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "making samples"));
  add_if_said(f, pace_text(e));
  return f;
}

// Whoever makes samples mostly waits for the disk, or for files to be opened.
std::optional<Finding> storage(const E& e) {
  const int64_t all = e.count(made);
  if (e.training_samples() < kEnough || all < kEnough) return std::nullopt;
  if (e.training_share(made) + e.training_share(fetching) < kMainWaits) return std::nullopt;
  const auto share = [&](const char* wait) {
    return double(e.count([&](const SeenStack& s) { return made(s) && s.wait == wait; })) /
           double(all);
  };
  const double disk = share("disk"), opening = share("open");
  if (disk < kBlocked && opening < kBlocked) return std::nullopt;
  const bool network = !e.seen.network_files.empty();
  const bool files = opening >= disk;
  Finding f{.cause = network ? "network-storage"
                     : files ? "many-small-files"
                             : "slow-storage",
            .severity = std::max(disk, opening) >= kMuch ? Severity::kHigh : Severity::kWarning,
            .confidence = 0.8,
            .summary = network ? "samples come over the network and are waited for"
                       : files ? "most of the time goes to opening files"
                               : "the disk cannot deliver as fast as samples are wanted",
            .evidence = {fmt::format(
                "who makes samples waits {:.0f}% of the time for reading and {:.0f}% for "
                "opening files",
                100 * disk, 100 * opening)},
            .fix = files
                       ? "pack samples into few large files (TFRecord, tar shards)"
                       : "read with more workers at once, keep a copy on a local disk, or cache()"};
  const HotLine hot = e.hottest(made);
  if (hot.frame) f.where = place_text(*hot.frame);
  if (network) f.evidence.push_back(e.seen.network_files[0]);
  return f;
}

// A function of the user's own that no training call passes through: it fetches or prepares.
bool prepares_between_steps(const E& e, const SeenStack& s) {
  if (!on_main(s) || !s.training || s.activity != "user") return false;
  const SeenFrame* frame = s.user_frame();
  return frame && !e.trains_in(*frame);
}

// A loop of one's own: make a batch, train on it, make the next, all on one thread.
std::optional<Finding> takes_turns(const E& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const auto blocked = [](const SeenStack& s) {
    return on_main(s) && s.training && s.activity == "user" &&
           (s.wait == "disk" || s.wait == "pipe" || s.wait == "socket");
  };
  const auto prepares = [&](const SeenStack& s) {
    return prepares_between_steps(e, s) || blocked(s);
  };
  const double steps =
      e.training_share([](const SeenStack& s) { return on_main(s) && s.activity == "step"; });
  const double share = e.training_share(prepares), waits = e.training_share(blocked);
  if (share < kMainWaits || steps < 0.02) return std::nullopt;
  const HotLine hot = e.hottest(prepares);
  if (!hot.frame) return std::nullopt;
  const bool storage = waits >= share / 2;
  Finding f{
      .cause = storage ? "slow-storage" : "no-prefetch",
      .severity = share >= kMuch ? Severity::kHigh : Severity::kWarning,
      .confidence = 0.75,
      .summary = storage ? "the training thread waits for reading to give it data"
                         : "making a batch and training on it take turns on one thread",
      .evidence = {fmt::format(
                       "{:.0f}% of the training thread's time goes to {}, {:.0f}% to training",
                       100 * share, hot.frame->function, 100 * steps),
                   hot_text(hot, "it")},
      .where = place_text(*hot.frame),
      .fix =
          "make batches ahead of the training: a DataLoader with workers, tf.data with "
          "prefetch(tf.data.AUTOTUNE), or a thread with a queue",
      .predicted_gain = 1 / std::max(share, 1 - share)};
  add_if_said(f, pace_text(e));
  return f;
}

// Worker processes do all they can, and it is not enough.
std::optional<Finding> decode_saturated(const E& e) {
  if (e.training_samples() < kEnough || e.workers() == 0) return std::nullopt;
  const double waiting = e.training_share(fetching);
  if (waiting < kMuch || e.seen.cores < 0.8 * e.cpus()) return std::nullopt;
  const auto by_workers = [](const SeenStack& s) { return made(s) && s.process == "worker"; };
  const HotLine hot = e.hottest(by_workers);
  if (!hot.frame) return std::nullopt;
  return Finding{
      .cause = "decode-saturated",
      .severity = Severity::kHigh,
      .confidence = 0.75,
      .summary = "all cores make samples and the training still waits",
      .evidence = {fmt::format("{:.0f}% of the training thread's time waits for a batch; {:.2f} of "
                               "{:.3g} cores are busy",
                               100 * waiting, e.seen.cores, e.cpus()),
                   hot_text(hot, "the workers' time")},
      .where = place_text(*hot.frame),
      .fix =
          "make a sample cheaper: decode at the size needed, resize once and store, cache, "
          "native operators in place of PIL"};
}

// The training thread waits for its data, and no rule above knows why.
std::optional<Finding> input_bound(const E& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const double waiting =
      e.training_share([](const SeenStack& s) { return fetching(s) || made_on_main(s); });
  if (waiting < kMainWaits) return std::nullopt;
  const HotLine hot = e.hottest([](const SeenStack& s) { return made(s); });
  Finding f{.cause = "input-bound",
            .severity = waiting >= kMuch ? Severity::kHigh : Severity::kWarning,
            .confidence = 0.75,
            .summary = "the training waits for data",
            .evidence = {fmt::format(
                "{:.0f}% of the training thread's time is spent getting batches", 100 * waiting)},
            .fix = "make samples in more workers, ahead of time (prefetch), or cheaper"};
  if (hot.frame)
    f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "making samples"));
  add_if_said(f, pace_text(e));
  return f;
}

// Long work of the user's own before training begins.
std::optional<Finding> preprocessing_before_fit(const E& e) {
  if (e.seen.framework.empty()) return std::nullopt;
  const auto preparing = [](const SeenStack& s) {
    return on_main(s) && !s.training && (s.activity == "user" || s.activity == "produce");
  };
  const int64_t samples = e.count(preparing);
  const int64_t all = e.count(on_main);
  const double seconds = e.seen.at_s * double(samples) / double(std::max<int64_t>(1, all));
  if (seconds < kLongBeforeS || samples < kEnough) return std::nullopt;
  if (double(samples) < kMostlyPreparing * double(all) && e.training()) return std::nullopt;
  if (!e.training() && e.late_share(preparing) < kAlwaysBusy) return std::nullopt;
  if (e.workers() > 0 && !e.training()) return std::nullopt;
  const HotLine hot = e.hottest(preparing);
  if (!hot.frame) return std::nullopt;
  const int64_t working =
      e.count([&](const SeenStack& s) { return preparing(s) && running_on_core(s); });
  if (2 * working < samples) return std::nullopt;
  return Finding{
      .cause = "preprocessing-before-fit",
      .severity = Severity::kHigh,
      .confidence = 0.85,
      .summary = fmt::format("{} of preparation before the first training step, in {}",
                             duration_text(seconds), hot.frame->function),
      .evidence = {hot_text(hot, "it"),
                   fmt::format("{:.2f} of {:.3g} cores are used", e.seen.cores, e.cpus())},
      .where = place_text(*hot.frame),
      .fix =
          "do it on whole arrays (numpy) instead of one element at a time, keep the result in a "
          "file, or do it in the input pipeline (dataset.map, Dataset.__getitem__ with "
          "workers) while the model trains"};
}

std::optional<Finding> shuffle_fill(const E& e) {
  const SeenOutput& out = e.seen.output;
  if (out.shuffle_size <= 0 || out.shuffle_filled || !e.running() || e.stepped())
    return std::nullopt;
  const double rate = out.shuffle_last_s > out.shuffle_first_s
                          ? double(out.shuffle_fill - out.shuffle_first) /
                                (out.shuffle_last_s - out.shuffle_first_s)
                      : e.training_s() > 0 ? double(out.shuffle_fill) / e.training_s()
                                           : 0;
  const double left = rate > 0 ? double(out.shuffle_size - out.shuffle_fill) / rate : -1;
  Finding f{
      .cause = "shuffle-fill",
      .severity = Severity::kHigh,
      .confidence = 0.95,
      .summary = "not stuck: the shuffle buffer is filled before the first batch comes",
      .evidence = {fmt::format(
          "{} of {} elements are in it{}", with_commas(out.shuffle_fill),
          with_commas(out.shuffle_size),
          left >= 0 ? fmt::format("; full in about {}", duration_text(left)) : "")},
      .where = fmt::format("shuffle({})", out.shuffle_size),
      .fix =
          "shuffle the file names before they are read and decoded, or take a smaller buffer_size"};
  if (const SeenProcess* main = e.main())
    f.evidence.push_back(fmt::format("the process holds {}", size_text(double(main->rss_bytes))));
  return f;
}

constexpr OutsideRule kRules[] = {
    worker_deadlock,  thread_deadlock,  source_never_yields,      source_went_silent,
    shuffle_fill,     per_pixel_python, sequence_on_main_thread,  storage,
    python_generator, serial_map,       many_small_reads,         dataloader_workers,
    takes_turns,      decode_saturated, preprocessing_before_fit, input_bound};

}  // namespace

std::span<const OutsideRule> outside_input_rules() { return kRules; }

}  // namespace headway
