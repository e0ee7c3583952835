#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headway/trace/step_counters.h"

namespace headway {

struct Trace;

// Numbers by name, in the order they are shown: loss, metrics, val_loss ...
class Logs {
 public:
  // Error lists the known names when this one is missing.
  double operator[](const std::string& name) const;
  const double* find(const std::string& name) const;
  void set(const std::string& name, double value);
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }
  const std::vector<std::pair<std::string, double>>& all() const { return values_; }
  std::string str() const;  // "loss 1.932  accuracy 0.31"

 private:
  std::vector<std::pair<std::string, double>> values_;
};

// What fit() and loop() give back.
struct History {
  std::vector<Logs> epochs;  // one per epoch of the whole training, also those before a resume
  int64_t steps = 0;         // steps since training began, before a resume too
  std::string stopped_by;    // why it ended before its last epoch; empty: it reached it
  std::vector<std::string> warnings;
  StepTimes times;  // of this process
  double first_batch_s = 0, first_step_s = 0;
  double seconds = 0;
  int64_t samples = 0;                 // trained on by this process
  std::shared_ptr<const Trace> trace;  // what happened, for the doctor

  double samples_per_s() const { return seconds > 0 ? double(samples) / seconds : 0; }
  std::string time_table() const;  // where the time went, in lines
};

}  // namespace headway
