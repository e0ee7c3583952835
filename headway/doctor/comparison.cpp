#include "headway/doctor/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "headway/core/text.h"
#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

// Two runs of one program differ by more than what varies within each: the caches are warmer, the
// machine is hotter. See the README for how these were chosen.
constexpr double kCareful = 1.5;  // times what chance within the runs explains
constexpr double kSpeedFromRunToRun = 0.05;
constexpr double kShareFromRunToRun = 0.03;  // of the time, or of a step
constexpr double kWorthNaming = 0.33;        // of the largest change

// The others are not the training itself: less of them is better.
constexpr Account kOfTheTraining[] = {
    Account::kUnknown,        Account::kPrepares,  Account::kComputes,    Account::kLaunches,
    Account::kWaitsForDevice, Account::kValidates, Account::kCheckpoints, Account::kLogs};
bool is_removable(Account account) {
  return std::ranges::find(kOfTheTraining, account) == std::end(kOfTheTraining);
}

double below(const Estimate& e) { return e.value - e.low; }
double above(const Estimate& e) { return e.high - e.value; }

// How far apart two numbers may be by chance, on the sides that look at each other.
double chance(const Estimate& a, const Estimate& b) {
  return kCareful *
         (b.value > a.value ? std::hypot(above(a), below(b)) : std::hypot(below(a), above(b)));
}

Change change_of(const Estimate& a, const Estimate& b, double from_run_to_run) {
  const double difference = b.value - a.value;
  if (!(std::abs(difference) > std::max(chance(a, b), from_run_to_run)))
    return Change::kWithinNoise;
  return difference > 0 ? Change::kMore : Change::kLess;
}

Estimate estimate_of(const Share& share) { return {share.share, share.low, share.high}; }

Estimate times(const Estimate& e, double factor) {
  return {e.value * factor, e.low * factor, e.high * factor};
}

SpeedChange speed_change(const Estimate& a, const Estimate& b) {
  SpeedChange out{.a = a, .b = b};
  const double ratio = b.value / a.value;
  const double error =
      std::hypot(std::max(below(a), above(a)) / a.value, std::max(below(b), above(b)) / b.value);
  out.ratio = {ratio, std::max(0.0, ratio * (1 - error)), ratio * (1 + error)};
  out.visible = std::max(kCareful * error, kSpeedFromRunToRun);
  out.change = change_of(a, b, kSpeedFromRunToRun * a.value);
  return out;
}

const AccountTime* find(const RunSummary& run, Account account) {
  const auto at = std::ranges::find(run.accounts, account, &AccountTime::account);
  return at == run.accounts.end() ? nullptr : &*at;
}

// What is known of an account that was never seen: as little as of the rarest one that was.
AccountTime never_seen(const RunSummary& run, Account account) {
  double most = 0;
  for (const AccountTime& each : run.accounts)
    if (each.time.share < 0.02) most = std::max(most, each.time.high - each.time.share);
  AccountTime out{account, {0, 0, most}, {}};
  if (run.steps_per_s) out.s_per_step = Estimate{0, 0, most / run.steps_per_s->value};
  return out;
}

std::vector<Account> accounts_of(const RunSummary& a, const RunSummary& b) {
  std::vector<Account> out;
  for (const RunSummary* run : {&a, &b})
    for (const AccountTime& each : run->accounts)
      if (std::ranges::find(out, each.account) == out.end()) out.push_back(each.account);
  return out;
}

// What a cost is of: one step, or one sample of its batch.
struct Unit {
  double samples = 1;
  std::optional<Estimate> cost(const AccountTime& account) const {
    if (!account.s_per_step) return std::nullopt;
    return times(*account.s_per_step, 1 / samples);
  }
};

// Costs change with the speed, shares without it.
double size_of(const AccountChange& each) {
  return each.a_cost && each.b_cost ? std::abs(each.b_cost->value - each.a_cost->value)
                                    : std::abs(each.b_time.share - each.a_time.share);
}

class Comparing {
 public:
  Comparing(const RunSummary& a, const RunSummary& b) : a_(a), b_(b) {}

  Comparison run() {
    out_.a_state = a_.state, out_.b_state = b_.state;
    if (a_.batch_size > 0 && b_.batch_size > 0 && a_.batch_size != b_.batch_size) {
      out_.per_sample = true;
      a_unit_.samples = double(a_.batch_size), b_unit_.samples = double(b_.batch_size);
    }
    if (a_.steps_per_s && b_.steps_per_s)
      out_.speed = speed_change(times(*a_.steps_per_s, a_unit_.samples),
                                times(*b_.steps_per_s, b_unit_.samples));
    compare_accounts();
    compare_causes();
    compare_settings();
    say_what_is_worse();
    return std::move(out_);
  }

 private:
  void compare_accounts() {
    for (const Account account : accounts_of(a_, b_)) {
      const AccountTime* in_a = find(a_, account);
      const AccountTime* in_b = find(b_, account);
      const AccountTime a = in_a ? *in_a : never_seen(a_, account);
      const AccountTime b = in_b ? *in_b : never_seen(b_, account);
      AccountChange& each = out_.accounts.emplace_back();
      each.account = account, each.a_time = a.time, each.b_time = b.time;
      if (out_.speed) each.a_cost = a_unit_.cost(a), each.b_cost = b_unit_.cost(b);
      if (each.a_cost && each.b_cost) {
        const double step = std::min(1 / out_.speed->a.value, 1 / out_.speed->b.value);
        each.change = change_of(*each.a_cost, *each.b_cost, kShareFromRunToRun * step);
      } else {
        each.change = change_of(estimate_of(a.time), estimate_of(b.time), kShareFromRunToRun);
      }
    }
    std::ranges::stable_sort(out_.accounts, std::greater<>(), size_of);
  }

  void compare_causes() {
    const auto has = [](const RunSummary& run, Cause cause) {
      return std::ranges::find(run.causes, cause, &NamedCause::cause) != run.causes.end();
    };
    for (const NamedCause& each : a_.causes)
      (has(b_, each.cause) ? out_.stayed : out_.went).push_back(each);
    for (const NamedCause& each : b_.causes)
      if (!has(a_, each.cause)) out_.came.push_back(each);
  }

  void compare_settings() {
    const auto value = [](const RunSummary& run, const std::string& name) {
      const auto at = std::ranges::find(run.settings, name, &RunSetting::name);
      return at == run.settings.end() ? std::string() : at->value;
    };
    for (const RunSetting& each : a_.settings)
      if (const std::string other = value(b_, each.name); other != each.value)
        out_.settings.push_back({each.name, each.value, other});
    for (const RunSetting& each : b_.settings)
      if (value(a_, each.name).empty()) out_.settings.push_back({each.name, "", each.value});
  }

  void say_what_is_worse() {
    const auto is_bad = [](State s) { return s == State::kStuck || s == State::kCrashed; };
    if (is_bad(b_.state) && b_.state != a_.state)
      out_.worse.push_back(fmt::format("B is {}", text_of(b_.state)));
    if (out_.speed && out_.speed->change == Change::kLess) out_.worse.push_back("B is slower");
    for (const NamedCause& each : out_.came) {
      // What makes a run slow shows in its speed; another bottleneck may come to light in a faster
      // one.
      const CauseRule* rule = rule_of(each.cause);
      const bool slows = rule && rule->effect == Effect::kSlow;
      if (each.severity >= Severity::kWarning && !(slows && out_.speed))
        out_.worse.push_back(fmt::format("new cause: {}", text_of(each.cause)));
    }
    if (out_.speed) return;
    for (const AccountChange& each : out_.accounts)
      if (is_removable(each.account) && each.change == Change::kMore)
        out_.worse.push_back(fmt::format("B {} more", text_of(each.account)));
  }

  const RunSummary& a_;
  const RunSummary& b_;
  Unit a_unit_, b_unit_;
  Comparison out_;
};

std::string unit_of(const Comparison& c) { return c.per_sample ? "samples/s" : "steps/s"; }

std::string speed_text(const Comparison& c) {
  const SpeedChange& speed = *c.speed;
  const double ratio = speed.ratio.value;
  const std::string rates =
      fmt::format(" ({} -> {} {})", rate_text(speed.a.value), rate_text(speed.b.value), unit_of(c));
  if (ratio >= 1.5) return fmt::format("B is {:.1f}x as fast as A", ratio) + rates;
  if (ratio > 1) return fmt::format("B is {:.0f}% faster than A", 100 * (ratio - 1)) + rates;
  if (ratio > 0.5) return fmt::format("B is {:.0f}% slower than A", 100 * (1 - ratio)) + rates;
  return fmt::format("B takes {:.1f}x as long as A", 1 / ratio) + rates;
}

// The one or two accounts that say most about the change: of those that changed as the speed did,
// if it changed.
std::string accounts_text(const Comparison& c) {
  std::string out;
  double largest = 0;
  for (const AccountChange& each : c.accounts) {
    if (each.change == Change::kWithinNoise) continue;
    const bool faster = c.speed && c.speed->change == Change::kMore;
    const bool slower = c.speed && c.speed->change == Change::kLess;
    if ((faster && each.change == Change::kMore) || (slower && each.change == Change::kLess))
      continue;
    if (largest > 0 && size_of(each) < kWorthNaming * largest) break;
    out += fmt::format("{}{} {:.0f}% -> {:.0f}%", out.empty() ? "" : ", ", text_of(each.account),
                       100 * each.a_time.share, 100 * each.b_time.share);
    if (largest > 0) break;
    largest = size_of(each);
  }
  return out;
}

std::string no_difference(const Comparison& c) {
  if (!c.speed) return "no difference that is more than noise";
  const SpeedChange& speed = *c.speed;
  std::string out = fmt::format("no difference that is more than noise ({} and {} {}",
                                rate_text(speed.a.value), rate_text(speed.b.value), unit_of(c));
  if (std::isfinite(speed.visible))
    out += fmt::format("; one of less than {:.0f}% could not be seen", 100 * speed.visible);
  return out + ")";
}

std::string states_text(const Comparison& c) {
  if (c.a_state == c.b_state) return fmt::format("A and B are {}", text_of(c.a_state));
  return fmt::format("A is {}, B is {}", text_of(c.a_state), text_of(c.b_state));
}

std::string causes_text(const Comparison& c) {
  std::string out;
  if (!c.went.empty()) out += fmt::format("{} went", text_of(c.went[0].cause));
  if (!c.came.empty())
    out += fmt::format("{}{} came", out.empty() ? "" : ", ", text_of(c.came[0].cause));
  return out;
}

}  // namespace

bool Comparison::differs() const {
  const auto changed = [](const AccountChange& each) {
    return each.change != Change::kWithinNoise;
  };
  return !worse.empty() || (speed && speed->change != Change::kWithinNoise) ||
         std::ranges::any_of(accounts, changed);
}

bool is_comparable(const RunSummary& run) {
  if (run.state == State::kNotWatched) return false;
  return run.steps_per_s || !run.accounts.empty() || run.state != State::kNotStarted ||
         !run.causes.empty();
}

Comparison compare(const RunSummary& a, const RunSummary& b) { return Comparing(a, b).run(); }

std::string headline(const Comparison& c) {
  const auto stands = [](State s) { return s == State::kStuck || s == State::kCrashed; };
  const bool fate = c.a_state != c.b_state && (stands(c.a_state) || stands(c.b_state));
  if (!c.differs() && !fate) return no_difference(c);
  const bool changed = c.speed && c.speed->change != Change::kWithinNoise;
  std::string out, why = accounts_text(c);
  if (fate) {  // it ended there: its speed before is of no interest
    out = states_text(c), why = causes_text(c);
  } else if (changed) {
    out = speed_text(c);
  } else if (c.speed) {
    out = fmt::format("as fast as each other within noise ({} and {} {})",
                      rate_text(c.speed->a.value), rate_text(c.speed->b.value), unit_of(c));
  } else {
    out = states_text(c);
  }
  if (why.empty()) why = causes_text(c);
  return why.empty() ? out : out + ": " + why;
}

std::string rate_text(double per_second) {
  if (per_second >= 999.5) return with_commas(std::llround(per_second));
  return fmt::format("{:.3g}", per_second);
}

}  // namespace headway
