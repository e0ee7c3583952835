#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headway/io/bytes/compression.h"

// How operators and pipelines are set. What is not set is chosen when the pipeline runs:
// Pipeline::explain() says what was chosen, and why.
namespace headway {

// A cardinality that is no number of elements: tf.data's constants.
inline constexpr int64_t kInfinite = -1;
inline constexpr int64_t kUnknown = -2;

// map, random_map and filter.
struct MapOptions {
  std::optional<int64_t>
      num_parallel_calls{};  // 1: one at a time and in order, for functions with state
  bool ordered = true;       // false: elements come out as they are ready
  std::string name{};        // in reports and errors; default: the operator's
};
struct BatchOptions {
  bool drop_remainder = false;
};
struct PaddedBatchOptions {
  bool drop_remainder = false;
  double padding_value = 0;
  std::string padding_string{};
  // Field and its padded shape, -1 for "as long as the longest". Others are padded to their
  // longest.
  std::vector<std::pair<std::string, std::vector<int64_t>>> padded_shapes{};
};
struct ShuffleOptions {
  std::optional<int64_t>
      buffer_size{};  // for streams: 10,000; what has an index is permuted as a whole
  std::optional<int64_t>
      minimum_fill{};  // streams start to yield at this fill (512) and go on filling
  uint64_t seed = 0;   // on top of Options::seed
  bool reshuffle_each_iteration = true;
};
struct InterleaveOptions {
  int64_t cycle_length = 4;
  int64_t block_length = 1;
  bool parallel = true;  // the order is the same either way
};
struct TFRecordDatasetOptions {
  Compression compression = Compression::kAuto;
  std::optional<int64_t>
      num_parallel_reads{};  // files without index read at a time; records in turn
  bool index = true;         // plain files: sidecar index, made when missing
};

// What to do with a sample that cannot be read, decoded or mapped.
struct ErrorPolicy {
  bool skip = false;        // false: the first bad sample ends the run, loudly
  int64_t max_count = 100;  // skip: more bad samples than this end the run
  double max_rate = 1.0;    // skip: ... or a larger share than this of the samples seen (after 100)
  std::string log;          // skip: each skipped sample is added to this file, as a line of JSON

  static ErrorPolicy stop() { return {}; }
  static ErrorPolicy skip_up_to(int64_t count, std::string log = "") {
    return {true, count, 1.0, std::move(log)};
  }
  static ErrorPolicy skip_rate(double rate, std::string log = "") {
    return {true, INT64_MAX, rate, std::move(log)};
  }
};

// How a pipeline runs.
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
