#include "headway/probe/source/source_differences.h"

#include <cctype>

namespace headway {
namespace {

constexpr size_t kMost = 40;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The variable that ends here or begins there; empty if anything is done to it, as in `a.x`,
// `f(a)`, `a[0]` or `2 * a`: then its shape may differ.
std::string_view name_before(std::string_view text, size_t end) {
  const size_t last = text.find_last_not_of(' ', end);
  if (last == std::string_view::npos || !is_name(text[last])) return {};
  size_t begin = last;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  const size_t other = begin == 0 ? std::string_view::npos : text.find_last_not_of(' ', begin - 1);
  if (other != std::string_view::npos && text[other] != '(' && text[other] != '=' &&
      text[other] != ',')
    return {};
  return text.substr(begin, last + 1 - begin);
}

std::string_view name_behind(std::string_view text, size_t begin) {
  const size_t first = text.find_first_not_of(' ', begin);
  if (first == std::string_view::npos || !is_name(text[first])) return {};
  size_t end = first;
  while (end < text.size() && is_name(text[end])) ++end;
  const size_t other = text.find_first_not_of(' ', end);
  if (other != std::string_view::npos && text[other] != ')' && text[other] != ',') return {};
  return text.substr(first, end - first);
}

bool is_variable(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
}

}  // namespace

std::vector<SourceDifference> differences_in(const PythonSource& source) {
  std::vector<SourceDifference> out;
  for (const SourceStatement& statement : source.statements()) {
    const std::string_view text = statement.text;
    for (size_t at = text.find('-'); at != std::string_view::npos; at = text.find('-', at + 1)) {
      if (at == 0 || at + 1 == text.size() || text[at + 1] == '=' || text[at + 1] == '>') continue;
      const std::string_view left = name_before(text, at - 1), right = name_behind(text, at + 1);
      if (!is_variable(left) || !is_variable(right) || left == right) continue;
      out.push_back({std::string(left), std::string(right), statement.first});
      if (out.size() == kMost) return out;
    }
  }
  return out;
}

}  // namespace headway
