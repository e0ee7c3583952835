#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>

#include "cli/verbs.h"
#include "cli/watch_report.h"
#include "headway/core/error.h"
#include "headway/core/log.h"
#include "headway/core/print.h"
#include "headway/probe/launch/launch.h"
#include "headway/probe/watcher.h"
#include "headway/trace/trace_file.h"

namespace headway::cli {
namespace {

constexpr double kJudgeEveryS = 1;

struct Run {
  std::vector<std::string> command;
  std::string json_out, trace, native_table;
  double report_every_s = 0;
  bool quiet = false;
};

// Whole, or not at all: a reader never sees half of it.
void write_whole(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::ofstream out(part, std::ios::trunc);
  out << text << "\n";
  out.close();
  if (!out || std::rename(part.c_str(), path.c_str()) != 0)
    log(LogLevel::kWarning, path + " cannot be written");
}

// Looks, judges and tells until the command has ended.
class RunWatch {
 public:
  RunWatch(Launched& launched, const Run& settings, const NativeTable* table)
      : launched_(launched),
        settings_(settings),
        watcher_(launched.pid(), {.launched = true, .native_table = table}) {}

  void run() {
    while (!launched_.ended()) {
      wait(std::max(0.0, watcher_.next_look_s() - watcher_.now_s()));
      if (launched_.asked_to_end() && !before_the_end_) keep_what_was_seen();
      if (launched_.ended() || before_the_end_) continue;
      watcher_.look();
      if (watcher_.now_s() < next_) continue;
      next_ = watcher_.now_s() + kJudgeEveryS;
      judge();
    }
    while (wait(0.2)) continue;
    tell_the_end();
  }

 private:
  bool wait(double seconds) {
    const bool more = launched_.wait_for_output(seconds, [this](const Launched::Piece& piece) {
      if (piece.lost_before > 0) watcher_.lose_output(piece.lost_before, piece.errors);
      watcher_.take_output(piece.bytes, piece.errors);
    });
    watcher_.leave_out(launched_.stopped_ns());
    return more;
  }

  void say() {
    if (!settings_.quiet) print_lines(stderr, "\n--- headway\n" + report_.text() + "---\n");
  }

  void judge(bool last = false) {
    report_.judge(watcher_.trace(), last);
    if (!settings_.json_out.empty()) write_whole(settings_.json_out, report_.json());
    const bool due = settings_.report_every_s > 0 && watcher_.now_s() >= next_report_;
    if (due) next_report_ += settings_.report_every_s;
    if (report_.has_news() || due) say();
  }

  // At once: who interrupts may not wait for the end.
  void keep_what_was_seen() {
    before_the_end_ = watcher_.trace();
    judge(true);
    if (!settings_.trace.empty()) write_trace(settings_.trace, *before_the_end_);
  }

  void tell_the_end() {
    watcher_.ended(launched_.wait_status());
    Trace trace = before_the_end_ ? std::move(*before_the_end_) : watcher_.trace();
    trace.outside.exit_status = launched_.exit_status();
    report_.judge(trace, true);
    if (!settings_.json_out.empty()) write_whole(settings_.json_out, report_.json());
    if (!settings_.trace.empty()) write_trace(settings_.trace, trace);
    if (report_.exit_status() != 0 || settings_.report_every_s > 0) say();
  }

  Launched& launched_;
  const Run& settings_;
  Watcher watcher_;
  WatchReport report_;
  double next_ = kJudgeEveryS, next_report_ = settings_.report_every_s;
  std::optional<Trace> before_the_end_;  // what an interrupt brings about is not the run's fault
};

int run(const Run& settings) {
  std::optional<NativeTable> table;
  if (!settings.native_table.empty()) table = NativeTable::with_lines_of(settings.native_table);
  return launch(settings.command, {.quiet = settings.quiet}, [&](Launched& launched) {
    RunWatch(launched, settings, table ? &*table : nullptr).run();
  });
}

}  // namespace

void add_run(CLI::App& app, Task& task, int& status) {
  auto settings = std::make_shared<Run>();
  CLI::App* verb =
      app.add_subcommand("run", "start a training command of any framework and say what holds it");
  verb->add_option("command", settings->command,
                   "the training command to run, after --, as in: headway run -- python train.py")
      ->type_name("COMMAND")
      ->required();
  verb->add_option("--json-out", settings->json_out,
                   "write the verdict (healthy, slow or stuck, and why) as JSON to this file, and "
                   "keep it up to "
                   "date while the command runs")
      ->type_name("FILE");
  verb->add_option("--trace", settings->trace,
                   "record what happens in the run (a trace) in this file; `headway doctor FILE` "
                   "then says why it was slow or stuck")
      ->type_name("FILE");
  verb->add_option(
          "--report-every", settings->report_every_s,
          "print a report every so many seconds (default: only when a new problem is found)")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--native-table", settings->native_table,
                   "text file that says what the C and C++ functions of your own libraries do, one "
                   "line KIND LIBRARY FUNCTION for each, as in: decodes libmine * (default: only "
                   "well-known libraries are recognized)")
      ->type_name("FILE");
  verb->add_flag("--quiet", settings->quiet,
                 "do not print Headway's own messages to standard error");
  set_help(
      *verb,
      {.examples = {{"headway run -- python3 train.py"},
                    {"headway run --trace run.trace --json-out verdict.json -- python3 train.py",
                     "keeps what was seen and found"}},
       .notes =
           "Output, input, signals and exit status are the command's own; what is found goes to "
           "standard error.\n"
           "The command is watched by a process of its own. If that one is killed, crashes or "
           "runs out of memory, the command and its output go on, and a line says so. If this "
           "process is killed (SIGKILL), they go on too; only the exit status is lost. A daemon "
           "that the command leaves behind can go on printing.\n"
           "Ctrl-C, Ctrl-Z and fg, and a debugger's prompt work as without headway.",
       .statuses = {{"any", "the command's own"},
                    {"128 + N", "the command was killed by signal N (130 by Ctrl-C)"},
                    {"1", "the command could not be started: a message says why, and what to do"},
                    {"2", "the command line was not understood"}}});
  verb->callback(
      [settings, &task, &status] { task = [settings, &status] { status = run(*settings); }; });
}

}  // namespace headway::cli
