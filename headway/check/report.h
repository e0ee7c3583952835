#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "headway/check/check_line.h"
#include "headway/check/facts.h"

namespace headway {

struct CheckCounts {
  int64_t good = 0, doubtful = 0, wrong = 0, not_seen = 0;
};
CheckCounts count_of(const CheckLines& lines);

// The sentence that sums up: "this machine does not fit: 2 wrong, 1 doubtful".
std::string check_sentence(const CheckLines& lines);

// What is wrong, doubtful or not seen with reason and remedy; then what is good, a line each.
std::string check_text(const CheckLines& lines);

// README.md lists every field.
nlohmann::ordered_json check_json(const CheckLines& lines, const MachineFacts& facts);

}  // namespace headway
