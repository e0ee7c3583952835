#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

// What a pipeline consists of, and what its stages have done: declared here once, filled in by the
// room `data`, kept in a trace, read by the doctor.
namespace headway {

// The properties of an operator, as it declares them. They are never guessed from its name.
struct OpFacts {
  std::string name{};        // "decode_image"; in a dataset with its settings: "batch(64)"
  bool source = false;       // elements begin here
  bool serial = false;       // only one worker at a time may run it: a generator, a serial map
  bool lists_files = false;  // its elements name one file each
  bool reads_files = false;  // or bytes of a mapped file
  bool pixels = false;       // works on images
  bool fills_first = false;  // fills a buffer before it yields
  bool keeps = false;        // elements, in memory: it grows until it has seen all of them

  bool operator==(const OpFacts&) const = default;
};

// A stage, nearest to the consumer first.
struct StageFacts {
  std::string name{};
  int64_t depth = 0;        // 0 is nearest to the consumer
  int64_t max_workers = 0;  // 0: as many as there are threads
  std::vector<OpFacts> ops{};

  bool operator==(const StageFacts&) const = default;
};

// Counted from the start of the pipeline: the difference of two readings is what happened between.
struct StageReading {
  int64_t in = 0, out = 0, dropped = 0, bytes_out = 0;  // elements; out: elements or batches
  double busy_s = 0;                                    // in operators, of all workers together
  double input_s = 0;  // in the source and in serial operators, one worker at a time
  int64_t waits_for_input = 0, waits_for_room = 0;  // a worker found no input, or no room
  int64_t queue_fill = 0, queue_capacity = 0;       // now
  std::vector<double> op_busy_s{};  // as StageFacts::ops; from the elements that were timed

  // With the counts of `other` added `times` times (-1: subtracted); what holds now stays the same.
  StageReading plus(const StageReading& other, int64_t times = 1) const {
    StageReading sum = *this;
    sum.in += times * other.in;
    sum.out += times * other.out;
    sum.dropped += times * other.dropped;
    sum.bytes_out += times * other.bytes_out;
    sum.busy_s += double(times) * other.busy_s;
    sum.input_s += double(times) * other.input_s;
    sum.waits_for_input += times * other.waits_for_input;
    sum.waits_for_room += times * other.waits_for_room;
    for (size_t i = 0; i < std::min(sum.op_busy_s.size(), other.op_busy_s.size()); ++i) {
      sum.op_busy_s[i] += double(times) * other.op_busy_s[i];
    }
    return sum;
  }
};

}  // namespace headway
