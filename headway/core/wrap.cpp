#include "headway/core/wrap.h"

#include <fmt/format.h>

#include <sstream>

namespace headway {

std::string wrapped(std::string_view label, std::string_view text, size_t width) {
  std::string out, line(label);
  const std::string margin(label.size(), ' ');
  std::istringstream words{std::string(text)};
  bool begun = false;
  for (std::string word; words >> word; begun = true) {
    if (begun && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = margin + word;
    } else {
      line += (begun ? " " : "") + word;
    }
  }
  return out + line + "\n";
}

std::string labelled(std::string_view label, std::string_view text) {
  constexpr size_t kWidth = 100, kLabelWidth = 10;
  return wrapped(fmt::format("  {:<{}}", label, kLabelWidth), text, kWidth);
}

}  // namespace headway
