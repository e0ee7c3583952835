#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr int64_t kEnough = 60;  // looks: three seconds
// Of the time of the thread that makes all batches. Between two samples TensorFlow itself works,
// which takes long on a crowded machine.
constexpr double kAlwaysBusy = 0.6, kOftenBusy = 0.25;
constexpr double kMainWaits = 0.3;  // of the training thread's time, waiting for a batch
constexpr double kMuch = 0.5;
constexpr double kInterpreted = 0.5;  // of a producer's time, in Python's own loop
constexpr double kLongBeforeS = 8;    // of preparation
constexpr double kMostlyPreparing = 0.5;

bool is_sequence(const SeenStack& s) {
  return made(s) && (s.maker == Maker::kSequence || s.maker == Maker::kSequencePool);
}
bool is_generator(const SeenStack& s) {
  return made(s) && s.process == Role::kMain && s.maker == Maker::kGenerator;
}

// A function of the user's own inside map(): tf.numpy_function, tf.py_function.
bool is_mapped(const SeenStack& s) {
  return made(s) && s.process == Role::kMain && s.maker == Maker::kMappedPython;
}

// "mask[0, y, x] = ..." or getpixel() in nested loops: one element at a time, even if a library is
// called for each.
bool one_element(const HotLine& hot) {
  return hot.frame->users && hot.frame->loops >= 2 && hot.share >= kMuch && hot.frame->one_element;
}

}  // namespace

// A part of the training time is spent making samples in the training thread itself.
std::optional<Finding> per_pixel_python(const OutsideEvidence& e) {
  if (!e.training() || e.training_samples() < kEnough || !e.trains_itself()) return std::nullopt;
  const auto makes = [](const SeenStack& s) {
    return s.training && s.activity == Activity::kProduce;
  };
  const double busy = e.training_share(makes);
  const double per_maker = e.workers() > 1 ? busy : std::min(1.0, busy);
  if (per_maker < kMainWaits || e.count(makes) < kEnough) return std::nullopt;
  const double interpreted = e.interpreted_share(makes);
  const HotLine hot = e.hottest(makes);
  if (!hot.frame || (interpreted < kInterpreted && !one_element(hot))) return std::nullopt;
  Finding f{
      .cause = Cause::kPerPixelPython,
      .severity = per_maker >= kMuch ? Severity::kHigh : Severity::kWarning,
      .confidence = 0.85,
      .summary =
          fmt::format("samples are made by a loop in Python itself: {}", hot.frame->function),
      .evidence = {interpreted >= kInterpreted
                       ? fmt::format("{:.0f}% of the time spent making samples runs Python's own "
                                     "instructions, not a library",
                                     100 * interpreted)
                       : "a loop within a loop that touches one element at a time",
                   hot_text(hot, "it")},
      .where = place_text(*hot.frame),
      .fix =
          "replace the loop by one call on the whole array (numpy, tf.image, torchvision): often "
          "a hundred times as fast; more workers only divide it"};
  add_pace(f, e);
  return f;
}

std::optional<Finding> sequence_on_main_thread(const OutsideEvidence& e) {
  if (e.training_samples() < kEnough) return std::nullopt;
  const double busy = e.training_share(is_sequence);
  if (busy < kAlwaysBusy) return std::nullopt;
  const int64_t at_once =
      e.count([](const SeenStack& s) { return s.maker == Maker::kSequencePool; });
  if (at_once > e.count(is_sequence) / 2) return std::nullopt;  // its workers make them
  const HotLine hot = e.hottest(is_sequence);
  Finding f{
      .cause = Cause::kSequenceOnMainThread,
      .severity = Severity::kHigh,
      .confidence = 0.9,
      .summary = "one thread makes every batch of the Sequence, and the training waits for it",
      .evidence = {fmt::format("__getitem__ is at work {:.0f}% of the time",
                               100 * std::min(1.0, busy))},
      .fix =
          "super().__init__(workers=N, use_multiprocessing=True) in the Sequence (PyDataset), or "
          "move the work to tf.data: map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)"};
  if (hot.frame) f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "it"));
  add_pace(f, e);
  return f;
}

// Between two samples TensorFlow copies what the generator yielded: if training mostly waits for
// data and a generator often works, it waits for both.
std::optional<Finding> python_generator(const Observations& o) {
  if (!o.looks) return std::nullopt;
  const OutsideEvidence& e = *o.looks;
  if (e.training_samples() < kEnough || !e.stepped()) return std::nullopt;
  const double busy = e.training_share(is_generator);
  const double waits = o.ledger.alone({Account::kWaitsForData}).low;
  if (busy < kAlwaysBusy && (busy < kOftenBusy || waits < kMainWaits)) return std::nullopt;
  const HotLine hot = e.hottest(is_generator);
  const int64_t all = std::max<int64_t>(1, e.count(is_generator));
  const int64_t sleeps =
      e.count([](const SeenStack& s) { return is_generator(s) && s.wait == Wait::kSleep; });
  Finding f{
      .cause = Cause::kPythonGenerator,
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
  add_pace(f, e);
  return f;
}

std::optional<Finding> serial_mapped_python(const Observations& o) {
  if (!o.looks) return std::nullopt;
  const OutsideEvidence& e = *o.looks;
  if (e.training_samples() < kEnough) return std::nullopt;
  const double busy = e.training_share(is_mapped);
  const double waits = o.ledger.alone({Account::kWaitsForData}).low;
  if (busy < kAlwaysBusy && (busy < kOftenBusy || waits < kMainWaits)) return std::nullopt;
  const HotLine hot = e.hottest(is_mapped);
  Finding f{
      .cause = Cause::kSerialMap,
      .severity = Severity::kHigh,
      .confidence = 0.85,
      .summary = "a Python function inside map() makes samples one at a time",
      .evidence = {fmt::format("it is at work {:.0f}% of the time", 100 * std::min(1.0, busy))},
      .fix =
          "write it with TensorFlow's own operators (tf.image, tf.math) and give map "
          "num_parallel_calls=tf.data.AUTOTUNE; Python's lock lets one thread run at a time"};
  if (hot.frame) f.where = place_text(*hot.frame), f.evidence.push_back(hot_text(hot, "it"));
  add_pace(f, e);
  return f;
}

// Training waits for samples, and the source calls map() after the last prefetch(): that work is
// done while training waits.
std::optional<Finding> work_after_prefetch(const Observations& o) {
  if (!o.looks || o.looks->seen.after_prefetch_at.line == 0) return std::nullopt;
  auto found = serial_mapped_python(o);
  const Share waits = o.ledger.alone({Account::kWaitsForData});
  const double mapped = o.looks->training_share(is_mapped);
  if (!found && waits.low < kRepair && mapped < kOftenBusy) return std::nullopt;
  if (!found) {
    found = Finding{.severity = severity_of_share(std::max(waits.low, mapped)),
                    .confidence = 0.8,
                    .evidence = {share_text(waits)}};
    add_pace(*found, *o.looks);
  }
  found->cause = Cause::kWorkAfterPrefetch;
  found->summary = "map() or other work comes after the last prefetch(), so training waits for it";
  found->where = place_text(o.looks->seen.after_prefetch_at);
  found->fix = "make prefetch(tf.data.AUTOTUNE) the last call of the pipeline, after every map()";
  return found;
}

// Is the pipeline built outside the loop that makes the steps?
bool is_built_once_per_pass(const OutsideEvidence& e, const SeenFrame& at) {
  return e.count([&](const SeenStack& s) {
    const SeenFrame* frame = s.user_frame();
    return on_main(s) && s.activity == Activity::kStep && frame && frame->file == at.file &&
           frame->function == at.function && (frame->line == at.line || frame->loops > at.loops);
  }) > 0;
}

// Building a tf.data pipeline and its iterators takes milliseconds, unless its graph contains an
// array.
std::optional<Finding> pipeline_is_heavy(const OutsideEvidence& e) {
  constexpr double kShare = 0.2, kSeconds = 4, kEach = 0.3;
  const auto builds = [](const SeenStack& s) {
    return on_main(s) && s.activity == Activity::kPipeline && running_on_core(s);
  };
  const int64_t samples = e.count(builds);
  const double share = double(samples) / double(std::max<int64_t>(1, e.count(on_main)));
  const double seconds = share * e.seen.at_s;
  const HotLine hot = e.hottest(builds);
  if (share < kShare || seconds < kSeconds || !hot.frame) return std::nullopt;
  // Many pipelines, one for each step, each built quickly: that is another fault.
  const int64_t steps = std::max(e.seen.progress.steps, e.seen.progress.losses);
  if (seconds < kEach * double(steps) && !is_built_once_per_pass(e, *hot.frame))
    return std::nullopt;
  return Finding{
      .cause = Cause::kArrayAsGraphConstant,
      .severity = Severity::kHigh,
      .confidence = 0.75,
      .summary = fmt::format("building the tf.data pipeline took {}, {:.0f}% of the time: its "
                             "graph is very large, as if it holds an array as a constant",
                             duration_text(seconds), 100 * share),
      .evidence = {"a constant is copied, stored and optimised with the graph, once for each "
                   "iterator"},
      .where = place_text(*hot.frame),
      .fix =
          "do not pass a large array to from_tensor_slices: read its rows with tf.numpy_function, "
          "or from files; build the pipeline once, with repeat(), and not in every epoch"};
}

// Long work of the user's own before training begins.
std::optional<Finding> preprocessing_before_fit(const OutsideEvidence& e) {
  if (e.seen.framework == Framework::kNone) return std::nullopt;
  const auto preparing = [](const SeenStack& s) {
    return on_main(s) && !s.training &&
           (s.activity == Activity::kUser || s.activity == Activity::kProduce);
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
      .cause = Cause::kPreprocessingBeforeFit,
      .severity = Severity::kHigh,
      .confidence = 0.85,
      .summary = fmt::format("preparing data before the first training step took {}, in {}",
                             duration_text(seconds), hot.frame->function),
      .evidence = {hot_text(hot, "it"),
                   fmt::format("{:.2f} of {:.3g} cores are used", e.seen.cores, e.cpus())},
      .where = place_text(*hot.frame),
      .fix =
          "do it on whole arrays (numpy) instead of one element at a time, keep the result in a "
          "file, or do it in the input pipeline (dataset.map, Dataset.__getitem__ with "
          "workers) while the model trains"};
}

}  // namespace headway
