#include "headway/probe/source/source_growth.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

constexpr std::string_view kAppend = ".append(";

struct Line {
  size_t indent = 0;
  std::string_view text{};
};

std::vector<Line> without_indent(const std::vector<std::string>& lines) {
  std::vector<Line> out;
  for (const std::string& line : lines) {
    const size_t begin = line.find_first_not_of(" \t\r");
    const bool empty = begin == std::string::npos || line[begin] == '#';
    out.push_back(empty ? Line{} : Line{begin, std::string_view(line).substr(begin)});
  }
  return out;
}

// "self.maps" of "self.maps.append(x)", `record["maps"]` of `record["maps"].append(x)`.
std::string_view list_of(std::string_view text) {
  const size_t end = text.find(kAppend);
  if (end == std::string_view::npos) return {};
  size_t begin = end;
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  };
  for (int depth = 0; begin > 0; --begin) {
    const char before = text[begin - 1];
    depth += (before == ']') - (before == '[');
    if (depth < 0 || (depth == 0 && before != '[' && !is_name(before))) break;
  }
  return text.substr(begin, end - begin);
}

// The name of the variable that holds the list: "record".
std::string_view owner_of(std::string_view list) { return list.substr(0, list.find('[')); }

// A number, or a step count: such lists stay small.
bool appends_number(std::string_view text) {
  if (has_one_of(text, {".item()", "float(", "len(", "time()", "str("})) return true;
  const size_t begin = text.find(kAppend) + kAppend.size();
  const std::string_view what = text.substr(begin, text.find(')', begin) - begin);
  return is_one_of(what, {"step", "epoch", "i", "n", "t", "iteration", "batch_idx", "lr"});
}

// The line that opens the block around this one with one of these words; searches upwards to the
// function's own line.
std::optional<size_t> opened_by(const std::vector<Line>& lines, size_t at,
                                std::initializer_list<std::string_view> words) {
  size_t indent = lines[at].indent;
  for (size_t i = at; i-- > 0 && indent > 0;) {
    if (lines[i].text.empty() || lines[i].indent >= indent) continue;
    indent = lines[i].indent;
    for (const std::string_view word : words)
      if (lines[i].text.starts_with(word)) return i;
    if (lines[i].text.starts_with("def ") || lines[i].text.starts_with("class "))
      return std::nullopt;
  }
  return std::nullopt;
}

// The first line of the function; 0: of the module.
size_t function_of(const std::vector<Line>& lines, size_t at) {
  const auto found = opened_by(lines, at, {"def ", "async def "});
  return found ? *found + 1 : 0;
}

// Does the function (or the module) that begins here train?
bool trains(const std::vector<Line>& lines, size_t function) {
  for (size_t i = 0; i < lines.size(); ++i)
    if (!lines[i].text.empty() && function_of(lines, i) == function &&
        has_one_of(lines[i].text, {".backward(", ".step(", "train_step", "train_on_batch",
                                   "apply_gradients", "value_and_grad", "update(", "_step("}))
      return true;
  return false;
}

// Assignments to a name: how many, and the last of these lines.
struct Made {
  size_t times = 0, at = 0;
  bool bounded = false;
};
Made made(const std::vector<Line>& lines, const std::string& name) {
  Made out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].text;
    if (!text.starts_with(name + " =") && !text.starts_with(name + ": ")) continue;
    ++out.times, out.at = i;
    out.bounded |= has(text, "maxlen");
  }
  return out;
}

// Does the list last, that is: is it not remade, not emptied, and not local to a helper function?
bool lasts(const std::vector<Line>& lines, std::string_view name, size_t appended_at) {
  const std::string list(name), owner(owner_of(name));
  for (const Line& line : lines)
    if (has_one_of(line.text, {list + ".clear(", list + ".pop", "del " + list,
                               list + "[:] =", owner + ".clear("}))
      return false;
  const Made its = made(lines, list), owners = made(lines, owner);
  if (its.bounded || its.times > 1 || owners.times > 1) return false;
  const auto in_loop = [&](const Made& m) {
    return m.times > 0 && opened_by(lines, m.at, {"for ", "while "});
  };
  const size_t appender = function_of(lines, appended_at);
  if (appender > 0 && has(lines[appender - 1].text, "__init__(")) return false;  // once
  if (list != owner && in_loop(its)) return false;
  if (name.starts_with("self.")) return true;
  if (owners.times == 0) return false;  // belongs to other code
  if (in_loop(owners)) return false;
  const size_t function = function_of(lines, owners.at);
  return function != appender || trains(lines, function);
}

}  // namespace

int64_t line_that_keeps(const std::vector<std::string>& all) {
  constexpr size_t kMostLines = 2000;
  if (all.size() > kMostLines) return 0;
  const std::vector<Line> lines = without_indent(all);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view name = list_of(lines[i].text);
    if (!name.empty() && !appends_number(lines[i].text) && lasts(lines, name, i))
      return static_cast<int64_t>(i) + 1;
  }
  return 0;
}

}  // namespace headway
