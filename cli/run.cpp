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
#include "headway/probe/launch.h"
#include "headway/probe/watcher.h"
#include "headway/trace/trace_file.h"

namespace headway::cli {
namespace {

constexpr double kJudgeEveryS = 1;

struct Run {
  std::vector<std::string> command;
  std::string json_out, trace;
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

int run(const Run& settings) {
  Launch launch(settings.command);
  Watcher watcher(launch.pid(), {.launched = true});
  WatchReport report;
  double next = kJudgeEveryS, next_report = settings.report_every_s;
  const auto say = [&](const std::string& text) {
    if (!settings.quiet) print_lines(stderr, "\n--- headway\n" + text + "---\n");
  };
  const auto judge = [&] {
    report.judge(watcher.trace());
    if (!settings.json_out.empty()) write_whole(settings.json_out, report.json());
    const bool due = settings.report_every_s > 0 && watcher.now_s() >= next_report;
    if (due) next_report += settings.report_every_s;
    if (report.has_news() || due) say(report.text());
  };
  const auto taken = [&](std::string_view bytes, bool errors) {
    watcher.take_output(bytes, errors);
  };
  std::optional<Trace> before_the_end;  // what an interrupt brings about is not the run's fault
  while (!launch.ended()) {
    launch.wait_for_output(std::max(0.0, watcher.next_look_s() - watcher.now_s()), taken);
    if (launch.asked_to_end() && !before_the_end) {
      before_the_end = watcher.trace();  // kept at once: who interrupts may not wait for the end
      judge();
      if (!settings.trace.empty()) write_trace(settings.trace, *before_the_end);
    }
    if (!launch.ended() && !before_the_end) watcher.look();
    if (watcher.now_s() < next || before_the_end) continue;
    next = watcher.now_s() + kJudgeEveryS;
    judge();
  }
  while (launch.wait_for_output(0.2, taken) && !launch.last_words_over()) continue;
  watcher.ended(launch.wait_status());
  Trace trace = before_the_end ? std::move(*before_the_end) : watcher.trace();
  trace.outside.exit_status = launch.exit_status();
  report.judge(trace);
  if (!settings.json_out.empty()) write_whole(settings.json_out, report.json());
  if (!settings.trace.empty()) write_trace(settings.trace, trace);
  if (report.exit_status() != 0 || settings.report_every_s > 0) say(report.text());
  return launch.exit_status();
}

}  // namespace

void add_run(CLI::App& app, Task& task, int& status) {
  auto settings = std::make_shared<Run>();
  CLI::App* verb =
      app.add_subcommand("run", "start a training command of any framework and say what holds it");
  verb->add_option("command", settings->command, "what to run, behind --")->required();
  verb->add_option("--json-out", settings->json_out,
                   "the verdict as JSON, kept up to date while it runs");
  verb->add_option("--trace", settings->trace, "keep what was seen, for `headway doctor`");
  verb->add_option("--report-every", settings->report_every_s,
                   "seconds between reports; else only what is new")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--quiet", settings->quiet, "write nothing of our own to standard error");
  verb->footer(
      "Example:\n"
      "  headway run -- python train.py --epochs 5\n"
      "Output, input, signals and exit status are the command's own; what is found goes to "
      "standard error.");
  verb->callback(
      [settings, &task, &status] { task = [settings, &status] { status = run(*settings); }; });
}

}  // namespace headway::cli
