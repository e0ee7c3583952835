#include "headway/probe/source/python_source.h"

#include <algorithm>
#include <cctype>

namespace headway {
namespace {

constexpr size_t kMostCalls = 20000, kMostArguments = 64, kDeepest = 64;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
int opens(char c) { return c == '(' || c == '[' || c == '{'; }
int closes(char c) { return c == ')' || c == ']' || c == '}'; }

// The position after the string that begins here, on the same line or at its end.
size_t end_of_string(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    else if (text[i] == quote) return i + 1;
  }
  return text.size();
}

bool begins_anew(std::string_view line) {
  return line.starts_with("def ") || line.starts_with("class ") || line.starts_with("import ") ||
         line.starts_with("from ") || (line.size() > 1 && line[0] == '@' && is_word(line[1])) ||
         line.starts_with("if __name__");
}

// Copies lines without comments and without the content of long strings.
class Cleaner {
 public:
  // Appends the code of a line; returns whether the statement continues on the next line.
  bool add(std::string_view line, std::string& out) {
    size_t i = 0;
    bool continued = false;
    while (i < line.size()) {
      if (long_quote_) {
        const size_t end = line.find(std::string(3, long_quote_), i);
        if (end == std::string_view::npos) return true;
        long_quote_ = 0, i = end + 3, out += '"';
        continue;
      }
      const char c = line[i];
      if (c == '#') break;
      if (c == '"' || c == '\'') {
        if (line.substr(i, 3) == std::string(3, c)) {
          long_quote_ = c, i += 3, out += '"';
          continue;
        }
        const size_t end = end_of_string(line, i);
        out += line.substr(i, end - i);
        i = end;
        continue;
      }
      continued = c == '\\' && i + 1 == line.size();
      depth_ = std::max(0, depth_ + opens(c) - closes(c));
      if (!continued) out += c == '\t' || c == '\r' ? ' ' : c;
      ++i;
    }
    return continued || depth_ > 0 || long_quote_ != 0;
  }
  // At such a line, brackets that are still open are given up.
  bool gives_up_at(std::string_view line) {
    if (depth_ == 0 || long_quote_ != 0 || !begins_anew(line)) return false;
    depth_ = 0;
    return true;
  }

 private:
  int depth_ = 0;
  char long_quote_ = 0;
};

// The "=" that assigns to what is before it, outside of brackets and strings.
size_t sign_of_assignment(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(text, i) - 1;
      continue;
    }
    depth += opens(c) - closes(c);
    if (c != '=' || depth > 0) continue;
    if (i + 1 < text.size() && text[i + 1] == '=') {
      ++i;
      continue;
    }
    if (i > 0 && std::string_view("!<>:+-*/%@&|^").find(text[i - 1]) != std::string_view::npos)
      return std::string_view::npos;
    return i;
  }
  return std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == '.'; });
}

std::string_view target_of(std::string_view text) {
  const size_t sign = sign_of_assignment(text);
  if (sign == std::string_view::npos) return {};
  std::string_view name = trimmed(text.substr(0, sign));
  if (const size_t colon = name.find(':'); colon != std::string_view::npos)
    name = trimmed(name.substr(0, colon));
  return is_name(name) ? name : std::string_view{};
}

std::string_view value_of(std::string_view text) {
  if (text.starts_with("return ")) return trimmed(text.substr(7));
  const size_t sign = sign_of_assignment(text);
  return sign == std::string_view::npos ? text : trimmed(text.substr(sign + 1));
}

SourceArgument argument_of(std::string_view text) {
  text = trimmed(text);
  const size_t sign = sign_of_assignment(text);
  if (sign == std::string_view::npos || !is_name(trimmed(text.substr(0, sign)))) return {{}, text};
  return {trimmed(text.substr(0, sign)), trimmed(text.substr(sign + 1))};
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string_view SourceCall::owner() const {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

std::string_view SourceCall::given(std::string_view keyword) const {
  for (const SourceArgument& each : arguments)
    if (each.name == keyword) return each.text;
  return {};
}

std::string_view SourceCall::at(size_t position) const {
  for (const SourceArgument& each : arguments) {
    if (!each.name.empty()) continue;
    if (position-- == 0) return each.text;
  }
  return {};
}

PythonSource::PythonSource(const std::vector<std::string>& lines) {
  split(lines);
  for (SourceStatement& each : statements_)
    each.assigns = target_of(each.text), each.value = value_of(each.text);
  nest();
  for (size_t i = 0; i < statements_.size(); ++i) {
    statements_[i].calls_begin = calls_.size();
    read_calls(i);
    statements_[i].calls_end = calls_.size();
  }
}

void PythonSource::split(const std::vector<std::string>& lines) {
  struct Piece {
    size_t begin, end;
  };
  std::vector<Piece> pieces;
  Cleaner cleaner;
  bool goes_on = false;
  int64_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    const size_t margin = line.find_first_not_of(" \t\r");
    if (margin == std::string::npos) continue;
    if (!goes_on || cleaner.gives_up_at(line)) {
      statements_.push_back({.first = number, .indent = margin});
      pieces.push_back({text_.size(), 0});
    }
    marks_.push_back({text_.size(), number});
    goes_on = cleaner.add(std::string_view(line).substr(margin), text_);
    text_ += ' ';
    statements_.back().last = number, pieces.back().end = text_.size();
  }
  for (size_t i = 0; i < pieces.size(); ++i)
    statements_[i].text =
        trimmed(std::string_view(text_).substr(pieces[i].begin, pieces[i].end - pieces[i].begin));
  std::erase_if(statements_, [](const SourceStatement& each) { return each.text.empty(); });
}

void PythonSource::nest() {
  std::vector<size_t> open;
  for (size_t i = 0; i < statements_.size(); ++i) {
    while (!open.empty() && statements_[open.back()].indent >= statements_[i].indent)
      open.pop_back();
    if (!open.empty()) statements_[i].inside = open.back();
    if (statements_[i].text.ends_with(':')) open.push_back(i);
  }
}

int64_t PythonSource::line_at(size_t position) const {
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), position,
                                      [](size_t at, const Mark& mark) { return at < mark.at; });
  return after == marks_.begin() ? 0 : std::prev(after)->line;
}

void PythonSource::read_calls(size_t index) {
  struct Open {
    size_t call;  // kNowhere: not the bracket of a call
    size_t argument;
  };
  const std::string_view text = statements_[index].text;
  const bool definition =
      text.starts_with("def ") || text.starts_with("async def ") || text.starts_with("class ");
  if (definition) return;
  const auto offset = static_cast<size_t>(text.data() - text_.data());
  std::vector<Open> stack;
  const auto end_argument = [&](size_t end) {
    Open& top = stack.back();
    if (top.call == kNowhere) return;
    SourceCall& call = calls_[top.call];
    const std::string_view argument = trimmed(text.substr(top.argument, end - top.argument));
    if (!argument.empty() && call.arguments.size() < kMostArguments)
      call.arguments.push_back(argument_of(argument));
    top.argument = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(text, i) - 1;
    } else if (opens(c)) {
      if (stack.size() >= kDeepest || calls_.size() >= kMostCalls) break;
      size_t begin = i;
      while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.')) --begin;
      const std::string_view name = text.substr(begin, i - begin);
      const bool word = name == "in" || name == "and" || name == "or" || name == "not" ||
                        name == "if" || name == "return" || name == "else" || name == "lambda";
      size_t call = kNowhere;
      if (c == '(' && !name.empty() && !word) {
        SourceCall made{.name = name, .line = line_at(offset + begin), .statement = index};
        made.begin = begin;
        for (auto each = stack.rbegin(); each != stack.rend() && made.inside == kNowhere; ++each)
          made.inside = each->call;
        call = calls_.size();
        calls_.push_back(std::move(made));
      }
      stack.push_back({call, i + 1});
    } else if (c == ',' && !stack.empty()) {
      end_argument(i);
    } else if (closes(c) && !stack.empty()) {
      end_argument(i);
      if (stack.back().call != kNowhere) calls_[stack.back().call].end = i + 1;
      stack.pop_back();
    }
  }
  for (; !stack.empty(); stack.pop_back())
    if (stack.back().call != kNowhere) calls_[stack.back().call].end = text.size();
}

size_t PythonSource::around(size_t statement, std::string_view word) const {
  for (size_t at = statements_[statement].inside; at != kNowhere; at = statements_[at].inside) {
    if (statements_[at].starts_with(word)) return at;
    if (statements_[at].starts_with("def ") && word != "class ") return kNowhere;
  }
  return kNowhere;
}

bool PythonSource::is_within(size_t statement, size_t block) const {
  size_t at = statements_[statement].inside;
  while (at != kNowhere && at != block) at = statements_[at].inside;
  return at == block;
}

bool PythonSource::in_loop(size_t statement) const {
  return around(statement, "for ") != kNowhere || around(statement, "while ") != kNowhere;
}

}  // namespace headway
