#pragma once

#include <string>
#include <vector>

#include "headway/trace/kinds.h"

namespace headway {

// Whether one thing about the machine fits. What could not be seen is never taken for good.
enum class Fit : uint8_t { kGood, kDoubtful, kWrong, kNotSeen };
template <>
struct Texts<Fit> {
  static constexpr std::string_view all[] = {"good", "doubtful", "wrong", "not-seen"};
};

// What the machine is asked about; also the order in which lines are said.
enum class CheckTopic : uint8_t {
  kGpu,
  kPython,
  kHeadway,
  kCores,
  kMemory,
  kDisk,
  kWatching,
  kScript,
};
template <>
struct Texts<CheckTopic> {
  static constexpr std::string_view all[] = {"gpu",    "python", "headway",  "cores",
                                             "memory", "disk",   "watching", "script"};
};

// One line of `headway check`.
struct CheckLine {
  std::string id{};  // of what was looked at; stays once published. README.md lists all.
  CheckTopic topic{};
  Fit fit = Fit::kGood;
  std::string found{};   // what was found
  std::string why{};     // why it matters; empty where it is good
  std::string remedy{};  // what to do; empty where it is good
  std::string cause{};   // the page docs/causes/<cause>.md that tells more; empty: none
};
using CheckLines = std::vector<CheckLine>;

}  // namespace headway
