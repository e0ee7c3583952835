#pragma once

#include <optional>
#include <span>

#include "headway/doctor/finding.h"
#include "headway/doctor/outside_evidence.h"

namespace headway {

// One cause looked for in what was seen from outside.
using OutsideRule = std::optional<Finding> (*)(const OutsideEvidence&);

// In each, roots stand before what they bring about.
std::span<const OutsideRule> outside_process_rules();  // died, out of memory, limits, libraries
std::span<const OutsideRule> outside_input_rules();
std::span<const OutsideRule> outside_loop_rules();  // what the training thread does besides

}  // namespace headway
