#include "cli/watch_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "headway/view/json.h"
#include "headway/view/terminal.h"

namespace headway::cli {
namespace {

constexpr double kSettledS = 8;  // a finding must stand this long before `--once` ends early
constexpr double kSureS = 12;

using Json = nlohmann::ordered_json;

}  // namespace

void WatchReport::judge(Trace trace) {
  trace_ = std::move(trace);
  findings_ = diagnose(trace_);
  verdict_ = headway::verdict(trace_, findings_);
  const bool over = verdict_.state == State::kFinished || verdict_.state == State::kEnded;
  std::string key = std::string(over ? "" : text_of(verdict_.state)) + "/" +
                    (grave(findings_) ? findings_[0].id() : "");
  if (key == key_) return;
  // A run that ends keeps the time at which its cause was first named.
  const auto cause = [](const std::string& k) { return k.substr(k.find('/') + 1); };
  if (cause(key).empty() || cause(key) != cause(key_)) since_s_ = trace_.outside.at_s;
  key_ = std::move(key);
}

bool WatchReport::has_news() {
  if (!grave(findings_) && verdict_.state != State::kStuck) return false;
  const std::string now =
      grave(findings_) ? findings_[0].id() : std::string(text_of(verdict_.state));
  if (now == said_) return false;
  said_ = now;
  return true;
}

bool WatchReport::settled(double now_s) const {
  if (!trace_.outside.unwatched.empty()) return true;
  return now_s >= kSettledS && grave(findings_) && now_s - since_s_ >= 2 &&
         (verdict_.state == State::kStuck || now_s >= kSureS);
}

std::string WatchReport::text() const {
  std::string out = diagnosis_text(verdict_, findings_);
  const bool said = verdict_.sentence.find(trace_.outside.blind) != std::string::npos;
  if (!said) out += fmt::format("no Python stacks: {}\n", trace_.outside.blind);
  const Outside& seen = trace_.outside;
  if (seen.python_threads_read < seen.python_threads)
    out += fmt::format(
        "{} Python threads: each look reads {} of them, the main thread and others in turn\n",
        seen.python_threads, seen.python_threads_read);
  return out;
}

std::string WatchReport::json() const {
  const Outside& seen = trace_.outside;
  Json out = json_of(verdict_, findings_);
  out["seconds_to_verdict"] = since_s_;
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
  const std::string& unread = seen.unwatched.empty() ? seen.blind : seen.unwatched;
  out["not_readable"] = unread.empty() ? Json() : Json(unread);
  return out.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

int WatchReport::exit_status() const {
  if (verdict_.state == State::kNotWatched) return kNotWatched;
  if (needs_repair(verdict_, findings_)) return kFound;
  return verdict_.state == State::kEnded ? kEnded : 0;
}

}  // namespace headway::cli
