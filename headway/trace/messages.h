#pragma once

#include <string>
#include <string_view>

// Inside trace/: sentences, word by word.
namespace headway {

// Which words stay, beside numbers and paths.
enum class Care {
  kSpoken,  // those that can be spoken
  kListed,  // those on the list, and names made of them
  kSecret,  // those on the list that stand alone
};

// What does not stay goes word by word. A line that speaks of secrets is read with most care.
//
//   redact_sentence("login failed with password swordfish", Care::kSpoken)
//     ->  "login failed with password ***"
std::string redact_sentence(std::string_view line, Care care);

}  // namespace headway
