#include "headway/core/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace headway {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool moves_cursor(std::FILE* out) { return isatty(fileno(out)) != 0 && variable("TERM") != "dumb"; }

bool wants_color() { return variable("NO_COLOR").empty(); }

bool shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    for (const std::string_view word : {"UTF-8", "utf-8", "UTF8", "utf8"})
      if (value.find(word) != value.npos) return true;
    return false;
  }
  return false;
}

}  // namespace headway
