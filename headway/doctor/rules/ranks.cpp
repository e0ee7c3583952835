// Several processes that train together and wait for each other.
#include <fmt/format.h>

#include <algorithm>

#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside.h"
#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr double kAllTheTime = 0.9, kLongS = 10;
constexpr double kRankIsLostS = 7;
constexpr int64_t kEnoughLooks = 40;

using E = OutsideEvidence;

bool is_rank(const SeenProcess& p) { return p.role == Role::kMain || p.role == Role::kRank; }

// Threads that train: the main thread, that of another rank or, if none has made a step yet, that
// of a child process.
bool of_a_rank(const SeenStack& s) {
  return s.main_thread && (on_main(s) || s.process == Role::kRank ||
                           (s.process == Role::kWorker && s.activity != Activity::kIdle));
}

// In a collective, or in a step that waits for one.
bool together(const SeenStack& s) {
  return s.activity == Activity::kCollective ||
         (s.activity == Activity::kStep && s.wait == Wait::kLock);
}

double waiting_share(const SeenProcess& p) { return double(p.waits_for_ranks) / double(p.looks); }

// The ranks with enough looks, from the one that waits least to the one that waits
// most.
std::vector<const SeenProcess*> ranks_by_waiting(const E& e) {
  std::vector<const SeenProcess*> out;
  for (const SeenProcess& p : e.seen.processes)
    if (is_rank(p) && p.there() && p.looks >= kEnoughLooks) out.push_back(&p);
  std::sort(out.begin(), out.end(), [](const SeenProcess* a, const SeenProcess* b) {
    return waiting_share(*a) < waiting_share(*b);
  });
  return out;
}

double late_share(const E& e, const E::Test& test) {
  const auto of_others = [](const SeenStack& s) { return of_a_rank(s) && !on_main(s); };
  const int64_t all = e.count(of_others, true);
  const int64_t passing =
      e.count([&](const SeenStack& s) { return of_others(s) && test(s); }, true);
  const double others = all > 0 ? double(passing) / double(all) : 0;
  return std::max(e.late_share([&](const SeenStack& s) { return on_main(s) && test(s); }), others);
}

std::string hottest_place(const E& e, const E::Test& test) {
  const HotLine hot = e.hottest([&](const SeenStack& s) { return of_a_rank(s) && test(s); }, true);
  return hot.frame ? place_text(*hot.frame) : "";
}

}  // namespace

// One of the ranks is gone, and the others wait for it, or printed an error about it.
std::optional<Finding> rank_lost(const E& e) {
  const SeenProcess* lost = nullptr;
  for (const SeenProcess& p : e.seen.processes)
    if (p.role == Role::kRank && !p.there()) lost = &p;
  const std::string* said = nullptr;
  for (const SeenRemark& remark : e.seen.output.remarks)
    if (remark.kind == Remark::kRankLost) said = &remark.text;
  const bool told = said || e.seen.output.exception_kind == Remark::kRankLost;
  const bool waits = e.running() && e.seen.main_still_s >= kRankIsLostS && e.seen.cores < 0.1 &&
                     late_share(e, together) >= kAllTheTime;
  if (!told && !(lost && waits)) return std::nullopt;
  Finding f{.cause = Cause::kRankLost,
            .severity = Severity::kCritical,
            .confidence = lost ? 0.9 : 0.8,
            .summary = "one rank (training process) is gone, and the others wait for it",
            .where = hottest_place(e, together),
            .fix =
                "read the log of the rank that is gone, it has the reason; start with torchrun, "
                "which ends all ranks when one dies; give init_process_group a timeout of minutes"};
  if (lost)
    f.evidence.push_back(fmt::format("process {} went after {}{}{}", lost->pid,
                                     duration_text(lost->at_s), lost->ending.empty() ? "" : ": ",
                                     lost->ending));
  if (told) f.evidence.push_back(said ? *said : e.seen.output.exception);
  if (waits)
    f.evidence.push_back(fmt::format("the same stack for {}", duration_text(e.seen.main_still_s)));
  return f;
}

namespace {

// Where two stacks differ, in the user's frames from the outermost on: in one function, on
// different lines. None if they do not.
struct Parting {
  const SeenFrame *one = nullptr, *other = nullptr;
};

Parting parting(const SeenProcess& a, const SeenProcess& b) {
  const auto own = [](const SeenProcess& p) {
    std::vector<const SeenFrame*> out;
    for (auto frame = p.stack.rbegin(); frame != p.stack.rend(); ++frame)
      if (frame->users) out.push_back(&*frame);
    return out;
  };
  const auto left = own(a), right = own(b);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i]->function != right[i]->function || left[i]->file != right[i]->file) return {};
    if (left[i]->line != right[i]->line) return {left[i], right[i]};
  }
  return {};
}

// Stands still at a point that all others must reach.
bool waits_for_all(const SeenProcess& p) {
  const bool blocked = p.wait == Wait::kLock || p.wait == Wait::kPoll || p.wait == Wait::kSocket;
  return p.there() && blocked && p.still_s >= kRankIsLostS && p.cores < 0.1 && !p.waits_for_task;
}

}  // namespace

// All stand still: one in the loop over its batches, another after that loop. They do not have the
// same number of batches.
std::optional<Finding> uneven_batches(const E& e) {
  if (!e.running()) return std::nullopt;
  std::vector<const SeenProcess*> waiting;
  for (const SeenProcess& p : e.seen.processes) {
    if (p.role == Role::kOther || !p.there()) continue;
    if (waits_for_all(p)) waiting.push_back(&p);
    else if (p.cores >= 0.1) return std::nullopt;  // it may still arrive
  }
  for (size_t i = 0; i < waiting.size(); ++i)
    for (size_t k = i + 1; k < waiting.size(); ++k) {
      const Parting parts = parting(*waiting[i], *waiting[k]);
      if (!parts.one || parts.one->loops == parts.other->loops) continue;
      const bool one_inside = parts.one->loops > parts.other->loops;
      const SeenFrame &inside = one_inside ? *parts.one : *parts.other,
                      &after = one_inside ? *parts.other : *parts.one;
      return Finding{
          .cause = Cause::kUnevenBatches,
          .severity = Severity::kCritical,
          .confidence = 0.8,
          .summary =
              "the processes have different numbers of batches: one still has a batch, the others "
              "have finished",
          .evidence = {fmt::format(
                           "process {} waits in the loop over batches, process {} behind it",
                           one_inside ? waiting[i]->pid : waiting[k]->pid,
                           one_inside ? waiting[k]->pid : waiting[i]->pid),
                       fmt::format("behind it: {}", place_text(after))},
          .where = place_text(inside),
          .fix =
              "give every process the same number of batches: drop_last=True, a "
              "DistributedSampler, steps counted from the smallest share; in PyTorch model.join()"};
    }
  return std::nullopt;
}

std::optional<Finding> waits_for_others(const E& e) {
  const bool ranks = e.ranks() > 0;
  const double meeting =
      late_share(e, [](const SeenStack& s) { return s.activity == Activity::kRendezvous; });
  const double joined = late_share(e, [&](const SeenStack& s) {
    return ranks ? together(s) : s.activity == Activity::kCollective;
  });
  // This share of the recent looks (16 s at most) shows a stack that has not moved for kLongS.
  constexpr double kStands = 0.6;
  if (!e.running() || std::max(meeting, joined) < kStands || e.seen.main_still_s < kLongS ||
      e.seen.quiet_s < kLongS / 2)
    return std::nullopt;
  const bool meets = meeting >= joined;
  return Finding{
      .cause = meets ? Cause::kRendezvousWaits : Cause::kMismatchedCollective,
      .severity = Severity::kCritical,
      .confidence = meets ? 0.9 : 0.6,
      .summary = meets ? "the training waits for other ranks (training processes) that have not "
                         "connected"
                       : "the training waits in a collective operation (such as all-reduce) that "
                         "other ranks (training processes) have not called",
      .evidence = {fmt::format("the same stack for {}", duration_text(e.seen.main_still_s))},
      .where = hottest_place(e,
                             [&](const SeenStack& s) {
                               return meets ? s.activity == Activity::kRendezvous : together(s);
                             }),
      .fix = meets ? "start all WORLD_SIZE ranks with the same MASTER_ADDR and MASTER_PORT, and "
                     "check firewalls between them"
                   : "every rank must make the same calls in the same order: look at the stacks of "
                     "the other ranks"};
}

// Steps are made; at the end of each, all ranks but one wait for that one.
std::optional<Finding> straggler(const E& e) {
  constexpr double kMuchMore = 0.25;
  const auto ranks = ranks_by_waiting(e);
  if (ranks.size() < 2 || !e.running() || e.seen.quiet_s >= kStillAfterS) return std::nullopt;
  const SeenProcess &slow = *ranks.front(), &next = *ranks[1];
  const double more = waiting_share(next) - waiting_share(slow);
  if (more < kMuchMore || waiting_share(slow) > waiting_share(next) / 2) return std::nullopt;
  const auto its_own = [&](const SeenStack& s) {
    return s.main_thread && s.process == slow.role && !together(s);
  };
  const HotLine hot = e.hottest(its_own, true);
  return Finding{
      .cause = Cause::kStraggler,
      .severity = Severity::kHigh,
      .confidence = 0.8,
      .summary =
          fmt::format("all ranks (training processes) wait for process {} in every step", slow.pid),
      .evidence = {fmt::format("it waits {:.0f}% of its time for others, they at least {:.0f}%",
                               100 * waiting_share(slow), 100 * waiting_share(next))},
      .where = hot.frame ? place_text(*hot.frame) : "",
      .fix =
          "give each rank the same amount of work; move what only one rank does (logging, saving, "
          "validating) to the background, or divide it among all",
      .predicted_gain = gain_without(more)};
}

// Steps are made, and all ranks equally spend much of them in collectives.
std::optional<Finding> communication_bound(const E& e) {
  constexpr double kMuch = 0.3;
  const auto ranks = ranks_by_waiting(e);
  if (ranks.size() < 2 || !e.running() || e.seen.quiet_s >= kStillAfterS) return std::nullopt;
  const double least = waiting_share(*ranks.front());
  if (least < kMuch) return std::nullopt;
  return Finding{
      .cause = Cause::kCommunicationBound,
      .severity = Severity::kHigh,
      .confidence = 0.75,
      .summary = fmt::format("every rank (training process) spends at least {:.0f}% of its time "
                             "communicating with the others",
                             100 * least),
      .evidence = {fmt::format("{} ranks; the most one is {:.0f}%", ranks.size(),
                               100 * waiting_share(*ranks.back()))},
      .where = hottest_place(e, together),
      .fix =
          "communicate many values in one call (as DistributedDataParallel does), less "
          "often (no_sync, larger batches), or in 16 bits",
      .predicted_gain = gain_without(least)};
}

}  // namespace headway
