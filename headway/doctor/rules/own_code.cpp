#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr double kNeighboursS = 12;  // neighbours come and go: only recent time counts
constexpr double kNoCore = 0.20;     // of the time: they share caches too, so the gain is uncertain
constexpr double kOwnCode = 0.22;    // the gain is a guess: the result may be needed
constexpr double kNearlyAll = 0.75;
constexpr double kOneCore = 1.2;  // cores used by a program that was told to use one thread
constexpr double kComputesMost = 0.5;
constexpr double kSettledS = 8;

// The user's own code on the training thread that is not part of the training itself.
struct OwnCode {
  HotLine hot{};
  double share = 0;    // of the training thread's time
  double feeding = 0;  // of that, what comes before the training in the same function
};

std::optional<OwnCode> own_code(const Observations& o) {
  if (!o.looks || !o.ledger.is_enough()) return std::nullopt;
  const TrainingLines lines(o.looks->seen);
  const auto own = [&](const SeenStack& s) {
    if (!on_main(s) || !s.training || lines.trains(s)) return false;
    return s.account == Account::kRunsOwnCode || s.account == Account::kWaitsForDisk ||
           s.account == Account::kSleeps || s.account == Account::kWaitsForChild;
  };
  // Data made in known ways have rules of their own.
  const auto makers = [](const SeenStack& s) {
    return on_main(s) && s.training && s.account == Account::kMakesData;
  };
  const auto owns = double(o.looks->count(own));
  const double part = owns / std::max(1.0, owns + double(o.looks->count(makers)));
  const Share share =
      o.ledger.alone({Account::kRunsOwnCode, Account::kMakesData, Account::kWaitsForDisk,
                      Account::kSleeps, Account::kWaitsForChild});
  if (part * share.low < kSaid) return std::nullopt;
  OwnCode out{.hot = o.looks->hottest(own), .share = part * share.low};
  if (!out.hot.frame) return std::nullopt;
  const auto feeds = [&](const SeenStack& s) { return own(s) && lines.feeds(s); };
  const int64_t all = o.looks->count(own);
  out.feeding = all > 0 ? double(o.looks->count(feeds)) / double(all) : 0;
  return out;
}

// "train.py:41   x = augment(x)" in augment
std::string function_text(const HotLine& hot) {
  return hot.frame->at_top_level() ? place_text(*hot.frame) : hot.frame->function;
}

std::string gpu_text(const Observations& o) {
  const auto busy = o.gpu_busy();
  return busy ? fmt::format("; the GPU is busy {:.0f}% of the time", 100 * *busy) : "";
}

// The largest removable account other than computing and the user's own code, if there is one.
std::optional<Finding> hot_account(const Observations& o) {
  if (!o.looks || !o.ledger.is_enough()) return std::nullopt;
  if (o.looks->workers() > 0 && !o.looks->trains_itself()) return std::nullopt;  // the workers do
  for (const LedgerLine& line : o.ledger.lines()) {
    constexpr Account kRemovable[] = {Account::kWaitsForLock,     Account::kWaitsForPipe,
                                      Account::kWaitsForSocket,   Account::kWaitsForFileLock,
                                      Account::kWaitsForTerminal, Account::kPages,
                                      Account::kCommunicates};
    if (std::find(std::begin(kRemovable), std::end(kRemovable), line.account) ==
        std::end(kRemovable))
      continue;
    const Share share = o.ledger.alone({line.account});
    if (share.low < kOwnCode) continue;
    return Finding{.cause = Cause::kHotLine,
                   .severity = severity_of_share(share.low),
                   .confidence = 0.5,
                   .summary = fmt::format("{:.0f}% of the time, the training thread {}",
                                          100 * share.share, text_of(line.account)),
                   .evidence = {share_text(share), fmt::format("{:.2f} of {:.3g} cores are used",
                                                               o.looks->seen.cores, o.cpus())},
                   .where = line.where,
                   .fix =
                       "look at the line shown and what it waits for; do it ahead of time, in "
                       "the background, or less often",
                   .predicted_gain = gain_without(share.low)};
  }
  return std::nullopt;
}

struct FasterWay {
  SlowCall call;
  const char *what, *fix;
};
constexpr FasterWay kFasterWays[] = {
    {SlowCall::kScatter, "handles one number after another",
     "np.bincount(rows, weights=...) for each column, a product with a sparse matrix, or sort by "
     "row and np.add.reduceat"},
    {SlowCall::kGrowingArray, "copies the whole array to make it longer",
     "collect the parts in a list and join them once, or make the array at its full length"},
    {SlowCall::kPythonOverRows, "calls a Python function for each row or value",
     "one operation over the whole array or column"},
    {SlowCall::kFrontOfList, "moves all that is behind it", "collections.deque and popleft()"},
    {SlowCall::kDeepCopy, "copies everything that hangs on it",
     "copy only what changes (state_dict(), .clone()), and less often"},
    {SlowCall::kInverse, "inverts a matrix in every step",
     "np.linalg.solve, or factor the matrix once"},
};

// Applies even if all own code counts as training: a call for which there is a much faster way.
std::optional<Finding> slow_call_line(const Observations& o) {
  constexpr double kMuch = 0.35;
  if (!o.looks || !o.ledger.is_enough() || o.ledger.seconds() < kSettledS) return std::nullopt;
  for (const FasterWay& way : kFasterWays) {
    const auto calls = [&](const SeenStack& s) {
      const SeenFrame* frame = s.user_frame();
      return on_main(s) && s.training && s.activity != Activity::kStep && frame &&
             frame->slow_call == way.call;
    };
    const double share = o.looks->training_share(calls);
    if (share < kMuch) continue;
    const HotLine hot = o.looks->hottest(calls);
    Finding f{
        .cause = Cause::kHotLine,
        .severity = severity_of_share(share),
        .confidence = 0.75,
        .summary = fmt::format("{:.0f}% of the time goes to a line that {}", 100 * share, way.what),
        .evidence = {hot_text(hot, "it")},
        .where = place_text(*hot.frame),
        .fix = way.fix,
        .predicted_gain = gain_without(share)};
    add_pace(f, *o.looks);
    return f;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> neighbours_take_cores(const Observations& o) {
  const Ledger recent(o.trace, kNeighboursS);
  if (!recent.is_enough() || !o.running()) return std::nullopt;
  const Share lost = recent.of(Account::kNoCoreNeighbours);
  if (lost.low < kNoCore) return std::nullopt;
  Finding f{
      .cause = Cause::kNeighboursTakeCores,
      .severity = severity_of_share(lost.low),
      .confidence = 0.85,
      .summary = "other processes on this machine take the cores",
      .evidence = {fmt::format("the training could run and had no core {}", share_text(lost))},
      .where = "this machine",
      .fix = "stop them, move one to another machine, or divide the cores (taskset, nice, a quota)",
      .predicted_gain = gain_without(lost.share)};
  if (const Outside* seen = o.seen()) {
    for (const SeenNeighbour& each : seen->neighbours)
      f.evidence.push_back(
          fmt::format("{} (process {}) uses {:.2f} cores", each.name, each.pid, each.cores));
    if (!seen->neighbours.empty())
      f.summary = fmt::format("other processes on this machine take the cores: {} uses {:.1f}",
                              seen->neighbours[0].name, seen->neighbours[0].cores);
  }
  return f;
}

std::optional<Finding> own_code_feeds(const Observations& o) {
  const auto own = own_code(o);
  // If it takes nearly all of the time, doing it in advance would not help.
  if (!own || own->feeding < 0.5 || own->share < kRepair || own->share > kNearlyAll)
    return std::nullopt;
  Finding f{
      .cause = Cause::kNoPrefetch,
      .severity = severity_of_share(own->share),
      .confidence = 0.75,
      .summary = fmt::format("{} makes each batch on the training thread, in turn with the step",
                             function_text(own->hot)),
      .evidence = {fmt::format("{:.0f}% of the training thread's time at least{}", 100 * own->share,
                               gpu_text(o)),
                   hot_text(own->hot, "it")},
      .where = place_text(*own->hot.frame),
      .fix =
          "make batches ahead of the training: a DataLoader with workers, tf.data with "
          "prefetch(tf.data.AUTOTUNE), or a thread with a queue",
      .predicted_gain = 1 / std::max(own->share, 1 - own->share)};
  add_pace(f, *o.looks);
  return f;
}

std::optional<Finding> garbage_collection(const Observations& o) {
  if (!o.looks || !o.ledger.is_enough()) return std::nullopt;
  const Share share = o.ledger.alone({Account::kCollectsGarbage});
  if (share.low < kSaid) return std::nullopt;
  return Finding{.cause = Cause::kGarbageCollection,
                 .severity = severity_of_share(share.low),
                 .confidence = 0.9,
                 .summary = "Python's garbage collection takes a large part of the time",
                 .evidence = {share_text(share)},
                 .where = o.ledger.where(Account::kCollectsGarbage),
                 .fix =
                     "call gc.collect() outside the loop or once per epoch; call gc.freeze() after "
                     "loading the data",
                 .predicted_gain = gain_without(share.share)};
}

std::optional<Finding> reference_blas(const Observations& o) {
  if (!o.looks || !o.looks->seen.reference_blas || !o.ledger.is_enough()) return std::nullopt;
  const Share computes = o.ledger.alone({Account::kComputes});
  if (computes.low < kComputesMost || o.looks->seen.cores > kOneCore) return std::nullopt;
  return Finding{
      .cause = Cause::kReferenceBlas,
      .severity = Severity::kWarning,
      .confidence = 0.7,
      .summary =
          "matrix products run in the slow reference BLAS, on one core and without vector "
          "instructions",
      .evidence = {"libblas is loaded, and no OpenBLAS, MKL or BLIS",
                   fmt::format("{:.2f} of {:.3g} cores are used", o.looks->seen.cores, o.cpus())},
      .where = o.ledger.where(Account::kComputes),
      .fix =
          "install OpenBLAS (sudo apt-get install libopenblas0), or NumPy with `pip install "
          "numpy`, which includes it"};
}

// A program that was told to compute with one thread, and only computes.
std::optional<Finding> one_thread_by_setting(const Observations& o) {
  if (!o.looks || o.cpus() < 2 || !o.ledger.is_enough() || o.gpu_busy()) return std::nullopt;
  const Outside& seen = o.looks->seen;
  const Share computes = o.ledger.alone({Account::kComputes});
  if (computes.low < kComputesMost || seen.cores > kOneCore || o.ledger.seconds() < kSettledS ||
      o.looks->workers() + o.looks->ranks() > 0)
    return std::nullopt;
  for (const SeenThreadSetting& setting : seen.settings) {
    if (setting.threads != 1) continue;
    return Finding{
        .cause = Cause::kSingleCoreAffinity,
        .severity = Severity::kWarning,
        .confidence = 0.85,
        .summary = fmt::format("the program is set to compute with one thread: {}", setting.text),
        .evidence = {fmt::format("{:.2f} of {:.3g} cores are used", seen.cores, o.cpus()),
                     "it computes " + share_text(computes)},
        .where = setting.at.line > 0 ? place_text(setting.at) : setting.text,
        .fix = fmt::format("remove {} from the training program or its environment, or set as many "
                           "threads as there are cores",
                           setting.text)};
  }
  return std::nullopt;
}

// No rule knows the cause, but it is known where the time goes.
std::optional<Finding> hot_line(const Observations& o) {
  if (auto slow = slow_call_line(o)) return slow;
  const auto own = own_code(o);
  if (!own || own->share < kOwnCode) return hot_account(o);
  Finding f{
      .cause = Cause::kHotLine,
      .severity = severity_of_share(own->share),
      .confidence = 0.6,
      .summary = fmt::format("{:.0f}% of the time goes to {} on the training thread",
                             100 * own->share, function_text(own->hot)),
      .evidence = {hot_text(own->hot, "it"),
                   fmt::format("computing the steps takes {}{}",
                               share_text(o.ledger.of(Account::kComputes)), gpu_text(o))},
      .where = place_text(*own->hot.frame),
      .fix = "make it cheaper, do it less often, or move it to a thread or process of its own",
      .predicted_gain = gain_without(own->share)};
  add_pace(f, *o.looks);
  return f;
}

}  // namespace headway
