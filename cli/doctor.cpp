#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/follow.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "headway/core/print.h"
#include "headway/doctor/diagnose.h"
#include "headway/io/bytes/output_file.h"
#include "headway/trace/trace_file.h"
#include "headway/view/json.h"
#include "headway/view/report.h"
#include "headway/view/summary_json.h"
#include "headway/view/tensorboard.h"
#include "headway/view/terminal.h"

namespace headway::cli {
namespace {

constexpr int kFound = 3;

struct Doctor {
  std::string trace, html, tensorboard;
  bool json = false, follow = false;
};

void write_report(const std::string& path, const Trace& trace, const Verdict& judged,
                  const std::vector<Finding>& findings) {
  AtomicFile file(path);
  file.write(report_html(trace, judged, findings));
  file.commit();
}

// A trace knows how long ago; the file, when it was written last.
double begun_s(const std::string& path, const Trace& trace) {
  const auto written = std::chrono::file_clock::to_sys(std::filesystem::last_write_time(path));
  const double seconds = std::chrono::duration<double>(written.time_since_epoch()).count();
  return seconds - (trace.samples.empty() ? 0 : trace.samples.back().at_s);
}

void write_scalars(const std::string& folder, const Doctor& settings, const Trace& trace) {
  EventWriter events(folder);
  write_events(events, trace, begun_s(settings.trace, trace));
  events.close();
}

int run(const Doctor& settings) {
  const Trace trace = settings.follow ? follow(settings.trace) : read_trace(settings.trace);
  const std::vector<Finding> findings = diagnose(trace);
  const Verdict judged = verdict(trace, findings);
  if (!settings.html.empty()) write_report(settings.html, trace, judged, findings);
  if (!settings.tensorboard.empty()) write_scalars(settings.tensorboard, settings, trace);
  if (settings.json) {
    nlohmann::ordered_json out = json_of(judged, findings);
    out["ledger"] = json_of(ledger_of(trace));
    out["run"] = json_of(summary_of(trace, judged, findings));
    print_json_in_order(out);
  } else {
    print_lines(stdout, report_text(judged, findings, summary_of(trace, judged, findings)));
  }
  return needs_repair(judged, findings) ? kFound : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Task& task, int& status) {
  auto settings = std::make_shared<Doctor>();
  CLI::App* verb = app.add_subcommand("doctor", "say why a recorded run was slow or stuck");
  verb->add_option(
          "trace", settings->trace,
          "the recorded run to explain: a file that `headway train`, `headway run` or `headway "
          "attach` wrote with --trace FILE")
      ->type_name("FILE")
      ->required()
      ->check(CLI::ExistingFile);
  verb->add_option("--html", settings->html,
                   "also write the report to this file, as one HTML page that needs no network")
      ->type_name("FILE");
  verb->add_option("--tensorboard", settings->tensorboard,
                   "also write the curves of the run into this folder; see them with: tensorboard "
                   "--logdir FOLDER")
      ->type_name("DIR");
  verb->add_flag("--follow", settings->follow,
                 "for a run that is still going: keep reading its trace and show the newest state "
                 "until the run ends");
  verb->add_flag("--json", settings->json,
                 "print the result as one JSON object on standard output");
  set_help(
      *verb,
      {.examples = {{"headway doctor run.trace"},
                    {"headway train --data photos --trace run.trace; headway doctor run.trace"},
                    {"headway doctor run.trace --html report.html --tensorboard logs"},
                    {"headway doctor run.trace --follow", "in another terminal, while it trains"}},
       .notes = "A run that is still going, or was killed, can be looked at too.",
       .statuses = exit_statuses(
           {{"0", "healthy, or only worth a note"}, {"3", "something should be repaired"}})});
  verb->callback(
      [settings, &task, &status] { task = [settings, &status] { status = run(*settings); }; });
}

}  // namespace headway::cli
