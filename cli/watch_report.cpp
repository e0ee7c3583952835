#include "cli/watch_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "headway/doctor/diagnose.h"
#include "headway/view/json.h"
#include "headway/view/summary_json.h"
#include "headway/view/terminal.h"

namespace headway::cli {
namespace {

constexpr double kSettledS = 8;  // a finding must stand this long before `--once` ends early
constexpr double kSureS = 12;

using Json = nlohmann::ordered_json;

}  // namespace

void WatchReport::judge(Trace trace, bool last) {
  trace_ = std::move(trace);
  std::vector<Finding> findings = diagnose(trace_);
  Verdict verdict = headway::verdict(trace_, findings);
  keeper_.take(trace_.outside.at_s, std::move(findings), std::move(verdict), last);
}

double WatchReport::since_s() const {
  // A run that ends keeps the time at which its cause was first named.
  const auto& changes = keeper_.changes();
  double since = 0;
  for (size_t i = changes.size(); i-- > 0;) {
    if (changes[i].cause != changes.back().cause) break;
    since = changes[i].at_s;
    if (changes[i].cause == Cause::kUnknown) break;
  }
  return since;
}

bool WatchReport::has_news() {
  if (!has_problem(findings()) && verdict().state != State::kStuck) return false;
  const std::string now =
      has_problem(findings()) ? findings()[0].id() : std::string(text_of(verdict().state));
  if (now == said_) return false;
  said_ = now;
  return true;
}

bool WatchReport::settled(double now_s) const {
  if (!trace_.outside.unwatched.empty()) return true;
  return now_s >= kSettledS && has_problem(findings()) && now_s - since_s() >= 2 &&
         (verdict().state == State::kStuck || now_s >= kSureS);
}

std::string WatchReport::text() const {
  std::string out = diagnosis_text(verdict(), findings());
  const bool said = verdict().sentence.find(trace_.outside.blind) != std::string::npos;
  if (!said) out += fmt::format("no Python stacks: {}\n", trace_.outside.blind);
  const Outside& seen = trace_.outside;
  if (seen.python_threads_read < seen.python_threads)
    out += fmt::format(
        "{} Python threads: each look reads {} of them, the main thread and others in turn\n",
        seen.python_threads, seen.python_threads_read);
  if (!seen.native.why_not.empty())
    out += fmt::format("native code was not sampled: {}\n", seen.native.why_not);
  return out;
}

std::string WatchReport::json() const {
  const Outside& seen = trace_.outside;
  Json out = json_of(verdict(), findings());
  out["ledger"] = json_of(ledger_of(trace_));
  out["run"] = json_of(summary_of(trace_, verdict(), findings()));
  Json changes = Json::array();
  for (const VerdictKeeper::Change& change : keeper_.changes()) {
    changes.push_back(
        {{"at_s", change.at_s},
         {"verdict", text_of(change.state)},
         {"cause", change.cause == Cause::kUnknown ? Json() : Json(text_of(change.cause))}});
    if (change.still_s > 0) changes.back()["still_s"] = change.still_s;
  }
  out["changes"] = std::move(changes);
  out["seconds_to_verdict"] = since_s();
  out["watched_s"] = seen.at_s;
  out["exit_status"] = seen.exit_status < 0 ? Json() : Json(seen.exit_status);
  out["exception"] = seen.output.exception.empty() ? Json() : Json(seen.output.exception);
  out["where"] =
      seen.output.raised_at.line > 0
          ? Json(fmt::format("{}:{}", seen.output.raised_at.file, seen.output.raised_at.line))
          : Json();
  out["steps"] = seen.progress.steps;
  out["step_s"] = seen.progress.step_s;
  out["python_threads"] = seen.python_threads;
  out["python_threads_read"] = seen.python_threads_read;
  out["native_not_sampled"] = seen.native.why_not.empty() ? Json() : Json(seen.native.why_not);
  Json functions = Json::array();
  for (const SeenFunction& each : seen.native.functions)
    functions.push_back({{"library", each.library},
                         {"function", each.function},
                         {"kind", text_of(each.kind)},
                         {"main_thread", each.main_thread},
                         {"input", each.input},
                         {"share", double(each.samples) / double(seen.native.samples)}});
  out["native"] = std::move(functions);
  const std::string& unread = seen.unwatched.empty() ? seen.blind : seen.unwatched;
  out["not_readable"] = unread.empty() ? Json() : Json(unread);
  return out.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

int WatchReport::exit_status() const {
  if (verdict().state == State::kNotWatched) return kNotWatched;
  if (needs_repair(verdict(), findings())) return kFound;
  return verdict().state == State::kEnded ? kEnded : 0;
}

}  // namespace headway::cli
