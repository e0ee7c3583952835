#pragma once

#include <string>
#include <string_view>

// Inside trace/: sentences, word by word.
namespace headway {

// Words, numbers and paths stay; what else there is goes, word by word. `strict`: of the words only
// those on the list stay. A line that speaks of secrets is strict in any case.
//
//   redact_sentence("login failed with password swordfish", false)
//     ->  "login failed with password ***"
std::string redact_sentence(std::string_view line, bool strict);

}  // namespace headway
