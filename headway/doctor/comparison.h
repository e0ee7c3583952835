#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/doctor/run_summary.h"

namespace headway {

// How a number of run B lies to that of run A. What varies within the runs is noise, and so is what
// varies from one run of the same program to the next.
enum class Change : uint8_t { kWithinNoise, kLess, kMore };
template <>
struct Texts<Change> {
  static constexpr std::string_view all[] = {"within noise", "less", "more"};
};

struct SpeedChange {
  Estimate a{}, b{};   // per second
  Estimate ratio{};    // of B to A
  double visible = 0;  // a change of a smaller share than this could not have been seen
  Change change = Change::kWithinNoise;
};

struct AccountChange {
  Account account = Account::kUnknown;
  Share a_time{}, b_time{};
  std::optional<Estimate> a_cost{}, b_cost{};  // seconds, see Comparison::per_sample
  Change change = Change::kWithinNoise;        // of the cost; of the share where that is not known
};

struct SettingChange {
  std::string name, a, b;  // empty: not known there
};

// What changed from run A to run B, and what of that is more than noise.
struct Comparison {
  State a_state = State::kNotStarted, b_state = State::kNotStarted;
  // Speeds and costs are those of samples where batches differ in size, else of steps.
  bool per_sample = false;
  std::optional<SpeedChange> speed{};     // none: a run has no steps that were counted
  std::vector<AccountChange> accounts{};  // what changed most first
  std::vector<NamedCause> went{}, came{}, stayed{};
  std::vector<SettingChange> settings{};
  std::vector<std::string> worse{};  // what got worse from A to B, in words

  bool differs() const;  // in anything beyond noise; settings do not count
};

// Is there anything to compare? Not in a run that nobody could watch, or that had not begun.
bool is_comparable(const RunSummary& run);

// REQUIRES: both are comparable. Pure.
Comparison compare(const RunSummary& a, const RunSummary& b);

// "B is 1.8x as fast as A (6.1 -> 11 steps/s): waits for data 61% -> 9%"
std::string headline(const Comparison& comparison);

// "6.1", "11", "1,234": three digits.
std::string rate_text(double per_second);

}  // namespace headway
