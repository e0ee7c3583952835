#pragma once

#include <nlohmann/json_fwd.hpp>

#include "headway/doctor/run_summary.h"

namespace headway {

// A run in numbers, as the key "run" of a verdict's JSON: {steps_per_s, batch_size, accounts,
// settings}. What is not known is null.
nlohmann::ordered_json json_of(const RunSummary& run);

// {value, low, high}; a bound that is not known is null.
nlohmann::ordered_json json_of(const Estimate& estimate);

// From the JSON of a verdict: what `headway doctor --json`, `run --json-out` and `attach --json`
// give. Throws Error if it is none. Without the key "run" (older versions) the accounts are those
// of the ledger, and the speed is not known.
RunSummary summary_from(const nlohmann::json& verdict);

}  // namespace headway
