#include "headway/probe/source/source_flow.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace headway {
namespace {

constexpr size_t kMostStatements = 400;  // of one function
constexpr size_t kMostFed = 32;

using Names = std::set<std::string, std::less<>>;

struct Statement {
  size_t first = 0, last = 0;  // lines, from 0
  Names assigns{}, takes{};
};

size_t margin_of(const std::string& line) { return line.find_first_not_of(" \t\r"); }
bool is_blank(const std::string& line) {
  const size_t begin = margin_of(line);
  return begin == std::string::npos || line[begin] == '#';
}
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_def(std::string_view code) {
  return code.starts_with("def ") || code.starts_with("async def ");
}

// The line with blanks in place of quoted texts and comments.
std::string bare(const std::string& line) {
  std::string out = line;
  char quote = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const char c = out[i];
    if (quote == 0 && c == '#') {
      out.resize(i);
      break;
    }
    const bool escaped = quote != 0 && c == '\\';
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    if (quote != 0 || c == '"' || c == '\'') out[i] = ' ';
    if (escaped && i + 1 < out.size()) out[++i] = ' ';
  }
  return out;
}

int depth_change(std::string_view code) {
  int depth = 0;
  for (const char c : code)
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
  return depth;
}

// "loss", "self.batch": names with their dots, except those of calls and attributes of results.
Names names_in(std::string_view code) {
  Names out;
  for (size_t i = 0; i < code.size();) {
    if (!is_word(code[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < code.size() && (is_word(code[i]) || code[i] == '.')) ++i;
    const bool of_another = begin > 0 && code[begin - 1] == '.';
    const bool number = std::isdigit(static_cast<unsigned char>(code[begin]));
    if (!of_another && !number) out.emplace(code.substr(begin, i - begin));
  }
  return out;
}

// What is left of an assignment sign: "x, y" of "x, y", "rows" of "rows[i]".
Names targets_in(std::string_view code) {
  Names out;
  int depth = 0;
  std::string kept;
  for (const char c : code) {
    if (c == '[') ++depth;
    if (depth == 0) kept.push_back(c);
    if (c == ']') --depth;
  }
  for (const std::string& name : names_in(kept)) out.insert(name);
  return out;
}

// The position of the "=" that assigns, outside of brackets; npos: none. `after`: what follows it.
size_t assignment_in(std::string_view code, size_t from, size_t& after) {
  int depth = 0;
  for (size_t i = from; i < code.size(); ++i) {
    const char c = code[i];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (c != '=' || depth > 0) continue;
    const char next = i + 1 < code.size() ? code[i + 1] : ' ', before = i > 0 ? code[i - 1] : ' ';
    if (next == '=') {
      ++i;
      continue;
    }
    if (before == '!' || before == '<' || before == '>' || before == ':') continue;
    after = i + 1;
    const bool with_sign = std::string_view("+-*/%@&|^").find(before) != std::string_view::npos;
    return with_sign ? i - 1 : i;
  }
  return std::string_view::npos;
}

// `rows.append(x)` changes rows.
std::string changed_by_call(std::string_view code) {
  for (const std::string_view call :
       {".append(", ".extend(", ".add(", ".insert(", ".update(", ".put("}) {
    const size_t at = code.find(call);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string_view name = code.substr(0, at);
    if (std::all_of(name.begin(), name.end(), [](char c) { return is_word(c) || c == '.'; }))
      return std::string(name);
  }
  return "";
}

void read_names(std::string_view code, Statement& out) {
  code.remove_prefix(std::min(code.find_first_not_of(" \t"), code.size()));
  if (code.starts_with("async ")) code.remove_prefix(6);
  if (const size_t in = code.find(" in ");
      code.starts_with("for ") && in != std::string_view::npos) {
    out.assigns = targets_in(code.substr(4, in - 4));
    out.takes = names_in(code.substr(in + 4));
    return;
  }
  if (const size_t as = code.find(" as ");
      code.starts_with("with ") && as != std::string_view::npos) {
    out.assigns = targets_in(code.substr(as + 4));
    out.takes = names_in(code.substr(5, as - 5));
    return;
  }
  const bool only_takes = code.starts_with("if ") || code.starts_with("elif ") ||
                          code.starts_with("while ") || code.starts_with("return ") ||
                          code.starts_with("assert ") || is_def(code);
  size_t from = 0, after = 0;
  if (!only_takes)
    for (size_t at = 0; (at = assignment_in(code, from, after)) != std::string_view::npos;
         from = after)
      out.assigns.merge(targets_in(code.substr(from, at - from)));
  out.takes = names_in(code.substr(from));
  if (const std::string changed = changed_by_call(code); !changed.empty())
    out.assigns.insert(changed);
}

// The lines [first, last) of the function around this one; of the file outside of any.
std::pair<size_t, size_t> function_around(const std::vector<std::string>& lines, size_t at) {
  size_t margin = margin_of(lines[at]), first = 0;
  bool inside = false;
  for (size_t i = at; i-- > 0 && margin > 0 && !inside;) {
    if (is_blank(lines[i]) || margin_of(lines[i]) >= margin) continue;
    margin = margin_of(lines[i]);
    inside = is_def(std::string_view(lines[i]).substr(margin));
    if (inside) first = i + 1;
  }
  if (!inside) return {0, lines.size()};
  size_t last = first;
  while (last < lines.size() && (is_blank(lines[last]) || margin_of(lines[last]) > margin)) ++last;
  return {first, last};
}

std::vector<Statement> statements_of(const std::vector<std::string>& lines, size_t first,
                                     size_t last) {
  std::vector<Statement> out;
  for (size_t i = first; i < last && out.size() < kMostStatements; ++i) {
    if (is_blank(lines[i])) continue;
    Statement& statement = out.emplace_back();
    statement.first = i;
    std::string code = bare(lines[i]);
    for (int depth = depth_change(code); (depth > 0 || code.ends_with('\\')) && i + 1 < last;) {
      const std::string more = bare(lines[++i]);
      depth += depth_change(more);
      if (code.ends_with('\\')) code.pop_back();
      code += " " + more;
    }
    statement.last = i;
    read_names(code, statement);
  }
  return out;
}

// "x" and "x.shape" both use "x".
bool takes(const Statement& statement, const std::string& name) {
  const auto at = statement.takes.lower_bound(name);
  for (auto it = at; it != statement.takes.end() && it->starts_with(name); ++it)
    if (it->size() == name.size() || (*it)[name.size()] == '.') return true;
  return false;
}

}  // namespace

std::vector<int64_t> lines_fed(const std::vector<std::string>& lines, int64_t line) {
  if (line <= 0 || static_cast<size_t>(line) > lines.size()) return {};
  const auto at = static_cast<size_t>(line - 1);
  if (is_blank(lines[at])) return {};
  const auto [first, last] = function_around(lines, at);
  const std::vector<Statement> statements = statements_of(lines, first, last);
  const auto own = std::find_if(statements.begin(), statements.end(),
                                [&](const Statement& s) { return s.first <= at && at <= s.last; });
  if (own == statements.end()) return {};
  std::vector<bool> reached(statements.size());
  std::vector<std::string> names(own->assigns.begin(), own->assigns.end());
  Names known(own->assigns);
  while (!names.empty()) {
    const std::string name = std::move(names.back());
    names.pop_back();
    for (size_t i = 0; i < statements.size(); ++i) {
      const Statement& each = statements[i];
      if (reached[i] || &each == &*own || each.assigns.count(name) || !takes(each, name)) continue;
      reached[i] = true;
      for (const std::string& more : each.assigns)
        if (known.insert(more).second) names.push_back(more);
    }
  }
  std::vector<int64_t> out;
  for (size_t i = 0; i < statements.size(); ++i)
    for (size_t l = statements[i].first; reached[i] && l <= statements[i].last; ++l)
      if (out.size() < kMostFed) out.push_back(static_cast<int64_t>(l) + 1);
  return out;
}

}  // namespace headway
