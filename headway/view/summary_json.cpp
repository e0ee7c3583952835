#include "headway/view/summary_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "headway/core/json.h"

namespace headway {
using Json = nlohmann::ordered_json;

namespace {

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_of_account(const AccountTime& account) {
  return {{"account", text_of(account.account)},
          {"share", account.time.share},
          {"low", account.time.low},
          {"high", account.time.high},
          {"s_per_step", account.s_per_step ? json_of(*account.s_per_step) : Json()}};
}

template <typename E>
E value_in(const JsonView& view) {
  const auto text = view.as<std::string>();
  if (const auto value = from_text<E>(text)) return *value;
  throw Error(
      fmt::format("'{}' is '{}', which this version of Headway does not know", view.name(), text),
      "use the version that wrote it, or a newer one");
}

// NaN is JSON's null: nothing is known of that bound.
Estimate estimate_in(const JsonView& view) {
  const double high = view["high"].as<double>();
  return {view["value"].as<double>(), view["low"].as<double>(),
          std::isnan(high) ? std::numeric_limits<double>::infinity() : high};
}

Severity severity_in(const JsonView& view) {
  const auto name = view.as<std::string>();
  for (const Severity each :
       {Severity::kInfo, Severity::kWarning, Severity::kHigh, Severity::kCritical})
    if (name == severity_name(each)) return each;
  throw Error(fmt::format("'{}' is '{}', which is no severity", view.name(), name));
}

NamedCause cause_in(const JsonView& finding) {
  return {value_in<Cause>(finding["cause"]), severity_in(finding["severity"]),
          finding["summary"].as<std::string>()};
}

AccountTime account_in(const JsonView& line) {
  AccountTime out{value_in<Account>(line["account"]),
                  {line["share"].as<double>(), line["low"].as<double>(), line["high"].as<double>()},
                  {}};
  const auto cost = line.find("s_per_step");
  if (cost && !cost->is_null()) out.s_per_step = estimate_in(*cost);
  return out;
}

// The ledger has a line for each state of the GPU; together they are at most as sure as each.
std::vector<AccountTime> accounts_in_ledger(const JsonView& ledger) {
  std::vector<AccountTime> out;
  for (size_t i = 0; i < ledger.size(); ++i) {
    const AccountTime line = account_in(ledger.at(i));
    const auto at = std::ranges::find(out, line.account, &AccountTime::account);
    if (at == out.end()) {
      out.push_back(line);
      continue;
    }
    at->time.share += line.time.share;
    at->time.low += line.time.low;
    at->time.high = std::min(1.0, at->time.high + line.time.high);
  }
  std::ranges::stable_sort(out, std::greater<>(),
                           [](const AccountTime& a) { return a.time.share; });
  return out;
}

void read_run(const JsonView& run, RunSummary& out) {
  if (const JsonView rate = run["steps_per_s"]; !rate.is_null())
    out.steps_per_s = estimate_in(rate);
  if (out.steps_per_s && !(out.steps_per_s->value > 0)) out.steps_per_s.reset();
  if (const JsonView batch = run["batch_size"]; !batch.is_null())
    out.batch_size = batch.as<int64_t>();
  const JsonView accounts = run["accounts"];
  for (size_t i = 0; i < accounts.size(); ++i) out.accounts.push_back(account_in(accounts.at(i)));
  for (const auto& [name, value] : run["settings"].as<std::map<std::string, std::string>>())
    out.settings.push_back({name, value});
}

}  // namespace

Json json_of(const Estimate& estimate) {
  return {{"value", number_or_null(estimate.value)},
          {"low", number_or_null(estimate.low)},
          {"high", number_or_null(estimate.high)}};
}

Json json_of(const RunSummary& run) {
  Json accounts = Json::array(), settings = Json::object();
  for (const AccountTime& each : run.accounts) accounts.push_back(json_of_account(each));
  for (const RunSetting& each : run.settings) settings[each.name] = each.value;
  return {{"steps_per_s", run.steps_per_s ? json_of(*run.steps_per_s) : Json()},
          {"batch_size", run.batch_size > 0 ? Json(run.batch_size) : Json()},
          {"accounts", std::move(accounts)},
          {"settings", std::move(settings)}};
}

RunSummary summary_from(const nlohmann::json& verdict) {
  const JsonView view(verdict);
  RunSummary out{.state = value_in<State>(view["verdict"]),
                 .sentence = view["sentence"].as<std::string>()};
  const JsonView findings = view["findings"];
  for (size_t i = 0; i < findings.size(); ++i) out.causes.push_back(cause_in(findings.at(i)));
  if (const auto run = view.find("run")) read_run(*run, out);
  else out.accounts = accounts_in_ledger(view["ledger"]);
  return out;
}

}  // namespace headway
