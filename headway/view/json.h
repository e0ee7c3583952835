#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "headway/doctor/ledger.h"
#include "headway/doctor/verdict.h"

namespace headway {

// {cause, severity, confidence, summary, evidence, where, fix, predicted_gain, page}; the gain is
// null when it is not known.
nlohmann::ordered_json json_of(const Finding& finding);

// {verdict, sentence, findings, eta_s}
nlohmann::ordered_json json_of(const std::vector<LedgerLine>& ledger);
nlohmann::ordered_json json_of(const Verdict& verdict, const std::vector<Finding>& findings);

}  // namespace headway
