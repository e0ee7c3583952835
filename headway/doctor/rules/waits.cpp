#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside_input.h"

namespace headway {
namespace {

constexpr double kNearlyAlways = 0.85;
constexpr double kLoopsS = 18;       // without a step, a line of output, a byte read
constexpr double kOneCore = 0.6;     // at least, for a loop that is running
constexpr double kQuietRead = 50e3;  // bytes per second: no data arrive

std::string whom(const SeenProcess& main) {
  return main.waits_for.empty() ? "" : ": " + main.waits_for;
}

// A thread that makes what the training thread waits for: another user thread, or a worker.
bool is_maker(const SeenStack& s) {
  return !on_main(s) && s.user_frame() && s.activity != Activity::kIdle;
}

// No thread waits for these just because it is idle: any such wait delays the run.
bool is_never_idle(Wait kind) { return kind == Wait::kFileLock || kind == Wait::kTerminal; }

// The process that delays the run: the main process or, if that waits for a child process, the
// child, provided it waits for this.
const SeenProcess* who_waits(const Observations& o, Wait kind) {
  const SeenProcess* main = o.main();
  if (!main || main->wait == kind) return main;
  if (main->wait != Wait::kChild && !is_never_idle(kind)) return main;
  for (const SeenProcess& p : o.seen()->processes)
    if (&p != main && p.there() && p.wait == kind && p.cores < kStillCores) return &p;
  return main;
}

// Nothing moves, and the training thread waits for this; it may check repeatedly whether it has
// arrived.
bool stands_and_waits(const Observations& o, Wait kind) {
  if (o.stands_still()) {
    const SeenProcess* who = who_waits(o, kind);
    return who && who->wait == kind;
  }
  return o.running() && o.seen()->quiet_s >= kStillAfterS && o.seen()->cores < kStillCores &&
         o.looks->late_share([&](const SeenStack& s) { return on_main(s) && s.wait == kind; }) >=
             kNearlyAlways;
}

// Nothing moves: the training thread waits for data, and the threads that make it wait for this.
bool makers_wait(const Observations& o, Wait kind) {
  if (!o.stands_still() || !o.main()->waits_for_worker) return false;
  const int64_t all = o.looks->count(is_maker, true);
  const auto waits = [&](const SeenStack& s) { return is_maker(s) && s.wait == kind; };
  return all > 0 && double(o.looks->count(waits, true)) >= kNearlyAlways * double(all);
}

// It waits while child processes work: so it waits for their result.
bool own_processes_work(const Observations& o) {
  double cores = 0;
  for (const SeenProcess& p : o.seen()->processes)
    if (&p != o.main() && p.there()) cores += p.cores;
  return cores >= kOneCore;
}

// If nothing moves it waits for this now; else it may wait for it often, in its steps.
std::optional<Finding> waits_for(const Observations& o, Cause cause, Wait kind, const char* what,
                                 const char* fix) {
  const SeenProcess* main = o.main();
  if (!main) return std::nullopt;
  Finding f{.cause = cause, .confidence = 0.9, .fix = fix};
  f.where = users_place(*main);
  if (stands_and_waits(o, kind)) {
    const SeenProcess* who = who_waits(o, kind);
    f.severity = Severity::kCritical;
    f.summary = fmt::format("waits for {} that does not come{}", what, whom(*who));
    f.evidence = {
        fmt::format("nothing new for {}, no core is used", duration_text(o.seen()->quiet_s))};
    if (who != main) {
      f.summary = fmt::format("process {}, which was started here, {}", who->pid, f.summary);
      f.evidence.push_back("the training waits for it at " + f.where);
      if (const std::string place = users_place(*who); !place.empty()) f.where = place;
    }
    return f;
  }
  if (makers_wait(o, kind)) {
    const auto waits = [&](const SeenStack& s) { return is_maker(s) && s.wait == kind; };
    const HotLine hot = o.looks->hottest(waits, true);
    f.severity = Severity::kCritical;
    f.summary = fmt::format("the code that makes the data waits for {} that does not come", what);
    f.evidence = {fmt::format("nothing new for {}, no core is used", duration_text(o.quiet_s())),
                  "the training waits at " + f.where};
    if (hot.frame) f.where = place_text(*hot.frame);
    return f;
  }
  if (kind == Wait::kSocket && own_processes_work(o)) return std::nullopt;
  const auto waits = [&](const SeenStack& s) {
    // What a loader's workers deliver comes through pipes, too: that is waiting for data.
    return on_main(s) && s.wait == kind && s.activity != Activity::kCollective &&
           s.activity != Activity::kRendezvous &&
           (s.activity != Activity::kFetch || o.looks->workers() + o.looks->ended_workers() == 0);
  };
  const double share = o.looks->training_share(waits);
  const double error = 2 * std::sqrt(share * (1 - share) / std::max(1.0, o.ledger.seconds() * 2));
  if (!o.ledger.is_enough() || share - error < kRepair) return std::nullopt;
  const HotLine hot = o.looks->hottest([&](const SeenStack& s) { return waits(s) && s.training; });
  if (hot.frame) f.where = place_text(*hot.frame);
  f.severity = severity_of_share(share - error);
  f.confidence = 0.8;
  f.summary = fmt::format("{:.0f}% of the training thread's time waits for {}{}", 100 * share, what,
                          whom(*main));
  f.evidence = {fmt::format("{:.2f} of {:.3g} cores are used", o.looks->seen.cores, o.cpus())};
  f.predicted_gain = gain_without(share);
  add_pace(f, *o.looks);
  return f;
}

// Recently, other Python threads of the main process that wait for a lock in the user's own code.
bool blocked_thread(const SeenStack& s) {
  return s.process == Role::kMain && !s.main_thread && s.wait == Wait::kLock && s.user_frame() &&
         s.activity != Activity::kIdle;
}

bool takes_a_lock(const SeenFrame& frame) { return frame.takes_lock; }

// The place where a thread takes a lock in the user's own code: the innermost frame.
const SeenFrame* lock_frame(const std::vector<SeenFrame>& stack) {
  return !stack.empty() && stack[0].users ? &stack[0] : nullptr;
}

}  // namespace

Severity severity_of_share(double low) {
  if (low >= kMuchTime) return Severity::kHigh;
  return low >= kRepair ? Severity::kWarning : Severity::kInfo;
}

std::string share_text(const Share& share) {
  return fmt::format("{:.0f}% of the time ({:.0f} to {:.0f})", 100 * share.share, 100 * share.low,
                     100 * share.high);
}

std::optional<Finding> waits_for_terminal(const Observations& o) {
  return waits_for(o, Cause::kWaitsForTerminal, Wait::kTerminal, "somebody to type an answer",
                   "answer the question, or remove it: input(), a password prompt, pdb, a `y/n` "
                   "before files are overwritten");
}

std::optional<Finding> waits_for_file_lock(const Observations& o) {
  return waits_for(
      o, Cause::kWaitsForFileLock, Wait::kFileLock, "a file lock",
      "end whoever holds it, or remove a lock file that a killed run left behind; give "
      "each run its own cache folder");
}

std::optional<Finding> waits_for_server(const Observations& o) {
  return waits_for(o, Cause::kWaitsForServer, Wait::kSocket, "an answer from a server",
                   "give the connection a timeout; send in the background, in batches, or every k "
                   "steps instead of in each");
}

std::optional<Finding> waits_for_pipe(const Observations& o) {
  const SeenProcess* main = o.main();
  // A pipe that belongs to a pool or loader.
  if (!main || (main->waits_for_worker && !makers_wait(o, Wait::kPipe))) return std::nullopt;
  return waits_for(o, Cause::kWaitsForPipe, Wait::kPipe, "the other end of a pipe",
                   "look at the process at the other end: it neither reads nor writes; read its "
                   "stdout and stderr while it runs (communicate())");
}

// Two threads wait for locks in the user's code, and no thread that could release one works.
std::optional<Finding> lock_order(const Observations& o) {
  const SeenProcess* main = o.main();
  if (!main || !o.stands_still()) return std::nullopt;
  const HotLine other = o.looks->hottest(blocked_thread, true);
  const SeenFrame* own = lock_frame(main->stack);
  const bool main_blocked = main->wait == Wait::kLock && own && takes_a_lock(*own);
  std::vector<const SeenFrame*> places;
  if (main_blocked) places.push_back(own);
  for (const SeenStack& s : o.looks->seen.stacks) {
    if (!blocked_thread(s) || s.recent == 0) continue;
    const SeenFrame* frame = lock_frame(s.frames);
    if (!frame || !takes_a_lock(*frame)) continue;
    const auto same = [&](const SeenFrame* p) {
      return p->file == frame->file && p->line == frame->line;
    };
    if (std::none_of(places.begin(), places.end(), same)) places.push_back(frame);
  }
  if (places.size() < 2 || !other.frame) return std::nullopt;
  return Finding{.cause = Cause::kLockOrder,
                 .severity = Severity::kCritical,
                 .confidence = 0.85,
                 .summary = "deadlock: two threads wait for locks that the other one holds",
                 .evidence = {fmt::format("one at {}", place_text(*places[0])),
                              fmt::format("another at {}", place_text(*places[1])),
                              fmt::format("for {}, no core is used", duration_text(o.quiet_s()))},
                 .where = place_text(*places[0]),
                 .fix = "take the locks in the same order everywhere, or hold one at a time"};
}

// The training thread waits for a lock, and no other thread does anything.
std::optional<Finding> lock_never_released(const Observations& o) {
  const SeenProcess* main = o.main();
  if (!main || !o.stands_still() || main->wait != Wait::kLock) return std::nullopt;
  const bool maker = makers_wait(o, Wait::kLock);
  if (main->waits_for_worker && !maker) return std::nullopt;
  Finding f{.cause = Cause::kWorkerDeadlock,
            .severity = Severity::kCritical,
            .confidence = 0.75,
            .summary = "waits for a lock that nobody releases",
            .evidence = {fmt::format("the same place for {}, no core is used",
                                     duration_text(o.quiet_s()))},
            .where = users_place(*main),
            .fix =
                "the thread that holds the lock has ended, or is this thread itself: release it in "
                "a finally (or use `with`), use an RLock where one function calls another"};
  const HotLine other = o.looks->hottest(blocked_thread, true);
  if (other.frame)
    f.evidence.push_back(fmt::format("another thread waits at {}", place_text(*other.frame)));
  if (maker && other.frame) {
    f.summary = "the code that makes the data waits for a lock that nobody releases";
    f.where = place_text(*other.frame);
  }
  return f;
}

// The training thread waits for a queue, and the thread that filled it no longer exists.
std::optional<Finding> producer_is_gone(const Observations& o) {
  const SeenProcess* main = o.main();
  if (!main || !o.stands_still() || !main->waits_for_worker) return std::nullopt;
  const auto other_thread = [](const SeenStack& s) {
    return s.process == Role::kMain && !s.main_thread && s.user_frame();
  };
  const bool had = o.looks->count(other_thread) > 0;
  if (o.looks->workers() > 0 || o.seen()->python_threads > 1) return std::nullopt;
  const bool raised = o.seen()->output.traceback;
  if (!had && !raised) return std::nullopt;
  Finding f{.cause = Cause::kWorkerDied,
            .severity = Severity::kCritical,
            .confidence = 0.85,
            .summary = "the thread that makes the data has ended, and the training waits for it",
            .evidence = {fmt::format("the same place for {}, no other thread of the program's own",
                                     duration_text(o.quiet_s()))},
            .where = users_place(*main),
            .fix =
                "catch what it raises and hand it over through the queue; give get() a timeout; "
                "put an end mark into the queue in a finally"};
  if (!o.seen()->output.exception.empty()) {
    f.evidence.push_back("it raised " + o.seen()->output.exception);
    if (o.seen()->output.raised_at.line > 0) f.where = place_text(o.seen()->output.raised_at);
  }
  return f;
}

// A loop in the user's code that sleeps, checks whether something has arrived, and sleeps again.
std::optional<Finding> asks_in_vain(const Observations& o) {
  if (!o.looks || !stands_and_waits(o, Wait::kSleep)) return std::nullopt;
  const HotLine hot = o.looks->hottest(
      [](const SeenStack& s) { return on_main(s) && s.wait == Wait::kSleep; }, true);
  if (!hot.frame || hot.frame->loops == 0) return std::nullopt;
  return Finding{
      .cause = Cause::kLoopNeverEnds,
      .severity = Severity::kCritical,
      .confidence = 0.7,
      .summary = fmt::format(
          "a loop in {} sleeps and checks again and again, but what it waits for never happens",
          hot.frame->function),
      .evidence = {fmt::format("for {} no step, no output, nothing read",
                               duration_text(o.seen()->quiet_s))},
      .where = place_text(*hot.frame),
      .fix =
          "look at what the loop waits for: the thread or process that should provide it may be "
          "gone; add a time limit"};
}

// A core is busy in the user's own code, but nothing results from it.
std::optional<Finding> loop_never_ends(const Observations& o) {
  if (!o.looks || !o.running()) return std::nullopt;
  const Outside& seen = o.looks->seen;
  const auto own = [](const SeenStack& s) {
    return on_main(s) && s.activity == Activity::kUser && running_on_core(s);
  };
  const double since = o.stepped() ? seen.at_s - seen.progress.last_step_s : seen.at_s;
  const double silent = seen.output.watched ? seen.at_s - seen.output.last_s : since;
  const double patience = std::max(kLoopsS, 20 * o.step_s());
  if (since < patience || silent < kLoopsS || seen.read_rate > kQuietRead) return std::nullopt;
  if (o.looks->late_share(own) < kNearlyAlways || seen.wanted_cores < kOneCore) return std::nullopt;
  const HotLine hot = o.looks->hottest(own, true);
  const bool endless = !seen.endless.empty() || (hot.frame && hot.frame->in_while);
  const bool grows = o.looks->memory_grows();
  if (!hot.frame || grows || hot.frame->loops == 0) return std::nullopt;
  if (!endless && since < 2 * patience) return std::nullopt;
  return Finding{
      .cause = Cause::kLoopNeverEnds,
      .severity = Severity::kCritical,
      .confidence = endless ? 0.8 : 0.6,
      .summary =
          fmt::format("a loop in {} keeps running and produces nothing", hot.frame->function),
      .evidence = {fmt::format("for {} no step, no output, nothing read; {:.2f} cores busy",
                               duration_text(std::min(since, silent)), seen.cores),
                   hot_text(hot, "it")},
      .where = place_text(*hot.frame),
      .fix =
          "check the condition that should end the loop: it never becomes true; count iterations "
          "and raise an error after too many"};
}

}  // namespace headway
