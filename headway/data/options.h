#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headway {

inline constexpr int64_t kAuto = -1;      // let the pipeline choose, and say what it chose
inline constexpr int64_t kInfinite = -1;  // cardinality
inline constexpr int64_t kUnknown = -2;   // cardinality

// What to do with a sample that cannot be read, decoded or mapped.
struct ErrorPolicy {
  bool skip = false;        // false: the first bad sample ends the run, loudly
  int64_t max_count = 100;  // skip: more bad samples than this end the run
  double max_rate = 1.0;    // skip: ... or a larger share than this of the samples seen (after 100)
  std::string ledger;       // skip: a JSON-lines file that gets one line per skipped sample

  static ErrorPolicy stop() { return {}; }
  static ErrorPolicy skip_up_to(int64_t count, std::string ledger = "") {
    return {true, count, 1.0, std::move(ledger)};
  }
  static ErrorPolicy skip_rate(double rate, std::string ledger = "") {
    return {true, INT64_MAX, rate, std::move(ledger)};
  }
};

// How a pipeline runs. What is not set is chosen; see Pipeline::explain() for what and why.
struct Options {
  std::optional<int> threads{};               // workers; 0 runs everything inside next()
  std::optional<int> spare_cores{};           // default 0: left to others when threads are chosen
  std::optional<int64_t> ram_budget_bytes{};  // queues, shuffle buffers and caches together
  std::optional<bool> deterministic{};        // default true: same order whatever the threads
  std::optional<uint64_t> seed{};             // default 0
  std::optional<ErrorPolicy> errors{};
  std::optional<double> stall_report_s{};  // default 10; 0 turns the report off

  // These options with what is unset taken from `others`.
  Options or_else(const Options& others) const;
};

}  // namespace headway
