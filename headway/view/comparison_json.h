#pragma once

#include <nlohmann/json_fwd.hpp>

#include "headway/doctor/comparison.h"

namespace headway {

// {sentence, differs, worse, verdicts, speed, accounts, causes, settings}
nlohmann::ordered_json json_of(const Comparison& comparison);

}  // namespace headway
