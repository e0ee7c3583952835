#pragma once

#include <vector>

#include "headway/trace/trace.h"

namespace headway {

// The losses that a run printed, in order, and how they develop. Their noise is estimated from the
// differences between neighbouring losses.
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
  double highest_early() const;            // in the first quarter
  double highest_late() const;             // in the second half
  double noise() const { return noise_; }  // standard deviation of one loss
  double error() const;                    // of the difference between the means of two quarters
  double swing(bool late) const;  // usual difference between neighbours, in the first or last third
  bool same_to_the_digit() const;
  // Share of the places where the loss could change direction in which it does.
  double turns() const;

 private:
  double mean(size_t from, size_t to) const;

  std::vector<double> values_;
  double noise_ = 0;
  bool from_the_start_ = false;
};

}  // namespace headway
