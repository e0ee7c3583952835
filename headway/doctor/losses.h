#pragma once

#include <vector>

#include "headway/trace/trace.h"

namespace headway {

// The losses a run told, in order, and what they do: with their noise, which is the difference of
// neighbours.
class Losses {
 public:
  explicit Losses(const Trace& trace);

  size_t size() const { return values_.size(); }
  bool from_the_start() const { return from_the_start_; }
  double first() const;        // mean of the first quarter ...
  double middle() const;       // ... of the second ...
  double last() const;         // ... and of the last
  double lowest_late() const;  // in the second half
  double lowest() const;
  double highest() const;
  double highest_late() const;             // in the second half
  double noise() const { return noise_; }  // standard deviation of one
  double error() const;                    // of the difference of two quarters' means
  double swing(bool late) const;  // usual difference of neighbours, in the first or last third
  bool same_to_the_digit() const;
  // In how many of the turns where it could does it change direction?
  double turns() const;

 private:
  double mean(size_t from, size_t to) const;

  std::vector<double> values_;
  double noise_ = 0;
  bool from_the_start_ = false;
};

}  // namespace headway
