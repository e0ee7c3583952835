#pragma once

#include <string>
#include <vector>

#include "cli/input.h"
#include "cli/operators.h"

namespace headway::cli {

// What a chain costs up to and including one operator. The pipeline fuses operators, so their
// shares cannot be read off a clock while it runs; chains that get longer by one tell them apart.
// An operator can cost less than nothing: a crop behind a decode leaves less to decode.
struct StepCost {
  std::string name;
  double cpu_ms = 0;  // per item, of the chain so far
  double adds_ms = 0;
};

// On one thread over a few of the first items; operators from the batch on are left out.
std::vector<StepCost> step_costs(const Input& input, const std::vector<Operator>& operators);

}  // namespace headway::cli
