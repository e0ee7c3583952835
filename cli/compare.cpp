#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/complain.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "headway/core/json.h"
#include "headway/core/print.h"
#include "headway/core/regular_file.h"
#include "headway/doctor/diagnose.h"
#include "headway/trace/trace_file.h"
#include "headway/view/comparison_json.h"
#include "headway/view/summary_json.h"

namespace headway::cli {
namespace {

constexpr int kWorse = 3, kNotComparable = 4;
constexpr double kWorthARow = 0.005;  // share of the time

struct Compare {
  std::string a, b;
  bool json = false;
};

// A verdict is an object, on one line or many; a trace has an object on each line, and the first
// one says that it is a trace.
bool is_verdict(const std::string& text) {
  try {
    return parse_json(text).contains("verdict");
  } catch (const JsonError&) {
    return false;
  }
}

RunSummary read_run(const std::string& path) {
  const std::string text = read_regular(path, JsonLimits().max_bytes);
  if (is_verdict(text)) {
    try {
      return summary_from(parse_json(text));
    } catch (const Error& e) {
      throw Error(fmt::format("{}: {}", path, e.problem()),
                  e.hint().empty()
                      ? "give a trace, or what headway doctor --json, run --json-out or "
                        "attach --json has written"
                      : e.hint());
    }
  }
  const Trace trace = read_trace(path);
  const std::vector<Finding> findings = diagnose(trace);
  return summary_of(trace, verdict(trace, findings), findings);
}

std::string rate_cell(const std::optional<Estimate>& rate) {
  if (!rate) return "not known";
  if (!std::isfinite(rate->high)) return rate_text(rate->value);
  return fmt::format("{} ({} to {})", rate_text(rate->value), rate_text(rate->low),
                     rate_text(rate->high));
}

void print_runs(const Compare& files, const RunSummary& a, const RunSummary& b) {
  Table table({"", "file", "verdict", "steps/s", "batch size"});
  const auto row = [&](const char* name, const std::string& file, const RunSummary& run) {
    table.row({name, file, std::string(text_of(run.state)), rate_cell(run.steps_per_s),
               run.batch_size > 0 ? fmt::format("{}", run.batch_size) : "not known"});
  };
  row("A", files.a, a);
  row("B", files.b, b);
  table.print();
}

std::string percent(const Share& share) { return fmt::format("{:.0f}%", 100 * share.share); }

std::string milliseconds(const std::optional<Estimate>& cost) {
  return cost ? fmt::format("{:.3g}", 1e3 * cost->value) : "-";
}

void print_accounts(const Comparison& c) {
  const std::string unit = c.per_sample ? "ms/sample" : "ms/step";
  Table table({"account", ">A", ">B", ">A " + unit, ">B " + unit, "B against A"});
  bool any = false;
  for (const AccountChange& each : c.accounts) {
    if (std::max(each.a_time.share, each.b_time.share) < kWorthARow) continue;
    table.row({std::string(text_of(each.account)), percent(each.a_time), percent(each.b_time),
               milliseconds(each.a_cost), milliseconds(each.b_cost),
               std::string(text_of(each.change))});
    any = true;
  }
  if (!any) return;
  print("\n");
  table.print();
}

void print_causes(const char* what, const std::vector<NamedCause>& causes) {
  for (const NamedCause& each : causes)
    print("  {:<13} {}: {}\n", what, text_of(each.cause), each.text);
}

void print_text(const Compare& files, const RunSummary& a, const RunSummary& b,
                const Comparison& c) {
  print("{}\n\n", headline(c));
  print_runs(files, a, b);
  print_accounts(c);
  if (!c.went.empty() || !c.came.empty() || !c.stayed.empty()) print("\n");
  print_causes("cause gone", c.went);
  print_causes("cause new", c.came);
  print_causes("cause in both", c.stayed);
  if (!c.settings.empty()) print("\n");
  const auto shown = [](const std::string& value) { return value.empty() ? "not known" : value; };
  for (const SettingChange& each : c.settings)
    print("  {}: {} -> {}\n", each.name, shown(each.a), shown(each.b));
  if (c.worse.empty()) print("\nnothing got worse by more than noise\n");
  for (const std::string& each : c.worse) print("\nworse: {}\n", each);
}

int run(const Compare& settings) {
  const RunSummary a = read_run(settings.a), b = read_run(settings.b);
  for (const auto& [path, run] : {std::pair(&settings.a, &a), std::pair(&settings.b, &b)})
    if (!is_comparable(*run))
      return complain(kNotComparable,
                      fmt::format("{}: nothing to compare: {}", *path, run->sentence),
                      "record a run that has begun to train");
  const Comparison comparison = compare(a, b);
  if (settings.json) print_json_in_order(json_of(comparison));
  else print_text(settings, a, b, comparison);
  return comparison.worse.empty() ? 0 : kWorse;
}

}  // namespace

void add_compare(CLI::App& app, Task& task, int& status) {
  auto settings = std::make_shared<Compare>();
  CLI::App* verb = app.add_subcommand("compare",
                                      "what changed from one run to another, and is it "
                                      "more than noise");
  set_help(
      *verb,
      {.examples =
           {{"headway compare before.trace after.trace"},
            {"headway doctor before.trace --json > before.json; headway compare before.json "
             "after.trace"},
            {"headway compare main.json branch.json || echo slower", "for scripts"}},
       .notes =
           "Noise is what varies within the runs, and a few percent that runs of one program "
           "differ by; run longer to see smaller differences. Milliseconds per step say what a "
           "change of the speed did to each account; their sum is the time from step to step. "
           "Where batches differ in size, samples are compared instead of steps.",
       .statuses = {{"0", "nothing got worse by more than noise"},
                    {"3",
                     "something got worse: B is slower, stuck or has crashed, or a new cause "
                     "makes its results wrong"},
                    {"4", "nothing to compare: a run was not watched, or had not begun"},
                    {"1", "failed: a message says why, and what to do"},
                    {"2", "the command line was not understood"}}});
  const char* what =
      "a trace, or the JSON that headway doctor --json, run --json-out or attach --json has "
      "written";
  verb->add_option("A", settings->a, std::string("the run before: ") + what)
      ->required()
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  verb->add_option("B", settings->b, std::string("the run after: ") + what)
      ->required()
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  verb->add_flag("--json", settings->json,
                 "print the result as one JSON object on standard output");
  verb->callback(
      [settings, &task, &status] { task = [settings, &status] { status = run(*settings); }; });
}

}  // namespace headway::cli
