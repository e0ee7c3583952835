#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "cli/complain.h"
#include "cli/interrupt.h"
#include "cli/look_guard.h"
#include "cli/native_stacks.h"
#include "cli/stacks.h"
#include "cli/verbs.h"
#include "cli/watch_report.h"
#include "headway/core/error.h"
#include "headway/core/print.h"
#include "headway/probe/process/candidates.h"
#include "headway/probe/process/permission.h"
#include "headway/probe/watcher.h"
#include "headway/trace/trace_file.h"
#include "headway/view/live_screen.h"

namespace headway::cli {
namespace {

constexpr double kOnceS = 24;  // healthy is earned: memory and losses show what they do in 20 s
constexpr double kRefreshS = 1;
constexpr double kLongestLookS = 5;  // a healthy one takes half a second at most

struct Attach {
  pid_t pid = 0;
  bool once = false, json = false, stacks = false, native = false;
  double seconds = 0, interval_ms = 50, samples_s = 0;
  int count = 1;
  std::string trace, native_table;
};

int list_candidates(bool json) {
  const std::vector<Candidate> found = training_candidates();
  if (json) {
    print_lines(stdout, json_of(found) + "\n");
    return 0;
  }
  if (found.empty()) {
    print("no process here looks like a training run\n");
    return 0;
  }
  print("these look like training runs:\n");
  for (const Candidate& each : found)
    print("  {:>7}  {:>5.0f}% CPU  {:>9}  {}\n", each.pid, 100 * each.cores, each.memory,
          each.command);
  print("watch one of them: headway attach {}\n", found[0].pid);
  return 0;
}

int run(const Attach& settings) {
  if (settings.pid == 0) return list_candidates(settings.json);
  if (::access(fmt::format("/proc/{}", settings.pid).c_str(), F_OK) != 0)
    throw Error(fmt::format("no process {}", settings.pid),
                "`headway attach` alone lists likely ones");
  std::optional<LiveScreen> screen;
  LookGuard guard(kLongestLookS, [&] {
    if (screen) screen->close();
  });
  if (settings.stacks) {
    const std::string why = why_not_readable(settings.pid);
    if (!why.empty()) return complain(kNotWatched, "not watched: no stack can be read", why);
    if (settings.samples_s > 0) {
      print_native_samples(settings.pid, settings.samples_s, guard);
      return 0;
    }
    if (settings.native) {
      print_native_stacks(settings.pid, guard);
      return 0;
    }
    print_stacks(settings.pid, settings.count, settings.interval_ms, guard);
    return 0;
  }
  std::optional<NativeTable> table;
  if (!settings.native_table.empty()) table = NativeTable::with_lines_of(settings.native_table);
  const Watcher::Options options{.native_table = table ? &*table : nullptr};
  Watcher watcher = guard.during([&] { return Watcher(settings.pid, options); });
  if (!settings.once && !settings.json && ::isatty(STDOUT_FILENO)) screen.emplace(stdout);
  const double until = settings.seconds > 0 ? settings.seconds : settings.once ? kOnceS : 1e18;
  WatchReport report;
  double next = kRefreshS;
  while (watcher.now_s() < until && !interrupted()) {
    if (!guard.during([&] { return watcher.look(); })) break;  // it ended
    const double pause = watcher.next_look_s() - watcher.now_s();
    if (pause > 0) std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    if (watcher.now_s() < next) continue;
    next = watcher.now_s() + kRefreshS;
    report.judge(guard.during([&] { return watcher.trace(); }));
    if (screen) screen->show(report.trace(), report.verdict(), report.findings());
    const bool hopeless = !report.trace().outside.unwatched.empty();
    if (hopeless || (settings.once && report.settled(watcher.now_s()))) break;
  }
  const Trace trace = guard.during([&] { return watcher.trace(); });
  report.judge(trace, settings.once);
  if (!settings.trace.empty()) write_trace(settings.trace, trace);
  screen.reset();
  print_lines(stdout, settings.json ? report.json() + "\n" : report.text());
  return report.exit_status();
}

}  // namespace

void add_attach(CLI::App& app, Task& task, int& status) {
  auto settings = std::make_shared<Attach>();
  CLI::App* verb = app.add_subcommand(
      "attach", "watch a running training of any framework, and say what holds it");
  verb->add_option("pid", settings->pid,
                   "process ID of the training to watch; without one, likely trainings are listed")
      ->type_name("PID");
  verb->add_flag("--once", settings->once,
                 "watch until it is clear what slows or blocks the training (24 s at most), print "
                 "that and exit (default: watch until the training ends)");
  verb->add_flag("--json", settings->json,
                 "print the result as one JSON object on standard output");
  CLI::Option* stacks = verb->add_flag(
      "--stacks", settings->stacks,
      "print as JSON which Python functions each thread is in now (its stack), and exit; for "
      "CPython 3.8 to 3.14");
  verb->add_option(
          "--count", settings->count,
          "with --stacks: read the stacks this many times (default: 1) and print one JSON object "
          "per line")
      ->needs(stacks)
      ->check(CLI::PositiveNumber);
  verb->add_option(
          "--interval-ms", settings->interval_ms,
          "with --stacks and --count: milliseconds to wait between two readings (default: 50); "
          "lower it to see quick changes, raise it to cover a longer time")
      ->needs(stacks)
      ->check(CLI::NonNegativeNumber);
  CLI::Option* native = verb->add_flag("--native", settings->native,
                                       "with --stacks: print the C and C++ functions of all "
                                       "threads that wait, instead of Python functions")
                            ->needs(stacks);
  verb->add_option("--samples", settings->samples_s,
                   "with --stacks and --native: watch for this many seconds and print which C and "
                   "C++ functions use the CPU, instead of those that wait")
      ->needs(native)
      ->check(CLI::PositiveNumber);
  verb->add_option("--native-table", settings->native_table,
                   "text file that says what the C and C++ functions of your own libraries do, one "
                   "line KIND LIBRARY FUNCTION for each, as in: decodes libmine * (default: only "
                   "well-known libraries are recognized)")
      ->type_name("FILE");
  verb->add_option("--seconds", settings->seconds,
                   "stop watching after this many seconds (default: when the training ends)");
  verb->add_option("--trace", settings->trace,
                   "record what happens in the run (a trace) in this file; `headway doctor FILE` "
                   "then says why it was slow or stuck")
      ->type_name("FILE");
  set_help(
      *verb,
      {.examples = {{"headway attach", "which processes train?"},
                    {"headway attach 4711"},
                    {"headway attach 4711 --once --json", "for scripts: ends within 24 s"}},
       .notes =
           "The process is neither stopped nor changed. Another user's needs sudo; so does one "
           "that was not started by you where Yama is on: `headway run -- CMD` needs neither.\n"
           "Ctrl-C ends the watch; what was found is said, and the exit status is that of it.",
       .statuses = {{"0", "nothing to repair"},
                    {"3", "something should be repaired"},
                    {"4",
                     "not watched (it may not be read, is a thread of the kernel, has ended "
                     "already, or holds no Python that can be read: nothing is known)"},
                    {"5", "the process ended while it was watched, and nobody can say how"},
                    {"1", "failed: a message says why, and what to do"},
                    {"2", "the command line was not understood"}}});
  verb->callback(
      [settings, &task, &status] { task = [settings, &status] { status = run(*settings); }; });
}

}  // namespace headway::cli
