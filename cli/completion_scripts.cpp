#include "cli/completion_scripts.h"

#include <algorithm>
#include <string_view>

namespace headway::cli {

std::vector<std::string> verb_words(const CommandHelp& program) {
  std::vector<std::string> out;
  for (const CommandHelp& verb : program.verbs) {
    out.push_back(verb.name.substr(program.name.size() + 1));
    std::ranges::copy(verb_words(verb), std::back_inserter(out));
  }
  return out;
}

std::string first_clause(const std::string& text) {
  size_t end = text.size();
  for (const std::string_view stop : {": ", "; ", " (", ". "}) end = std::min(end, text.find(stop));
  return text.substr(0, end);
}

}  // namespace headway::cli
