#pragma once

#include "headway/trace/outside.h"

namespace headway {

// How much all processes of a run read, used and waited for, recently.
class RunRates {
 public:
  // Sums since some moment.
  struct Sums {
    double read_bytes = 0, ready_s = 0, cpu_s = 0;
  };
  // Puts the rates into `out`; true when so much was read that the run counts as moving.
  bool take(double now_s, const Sums& now, Outside& out);

 private:
  Sums last_{};
  double last_s_ = 0;
};

}  // namespace headway
