#pragma once

#include <optional>
#include <span>

#include "headway/doctor/evidence.h"
#include "headway/doctor/finding.h"

namespace headway {

// One cause looked for. Nothing: it is not there, or there is too little to tell.
using Rule = std::optional<Finding> (*)(const Evidence&);

// What the run itself said, with its cause, when it refused to go on.
std::span<const Rule> refusal_rules();

// One list per family; in each, roots stand before what they bring about.
std::span<const Rule> config_rules();
std::span<const Rule> memory_rules();
std::span<const Rule> no_data_rules();
std::span<const Rule> input_rules();
std::span<const Rule> compute_rules();
std::span<const Rule> loop_rules();
std::span<const Rule> numerical_rules();
std::span<const Rule> gradient_rules();

}  // namespace headway
