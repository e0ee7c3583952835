#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// A Python source as statements and calls: what is called, with what, where, in which order. Not a
// compiler: it skips what it cannot read; an unclosed bracket ends at the next function.
// function.
//
//   PythonSource source(lines);
//   for (const SourceCall& call : source.calls())
//     if (call.last_name() == "Dense") ... call.given("activation") ...
//
// All texts are views into the PythonSource, which cannot be moved; `lines` may go away.

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

struct SourceArgument {
  std::string_view name{};  // of a keyword argument; empty: positional
  std::string_view text{};
};

struct SourceCall {
  std::string_view name{};  // "nn.Linear", "self.net"; ".step" of a value without a name
  int64_t line = 0;
  size_t statement = 0;       // index
  size_t inside = kNowhere;   // the call of which it is part of an argument
  size_t begin = 0, end = 0;  // in the text of its statement: from the name to after the bracket
  std::vector<SourceArgument> arguments{};

  std::string_view last_name() const { return name.substr(name.rfind('.') + 1); }
  // "model" of "model.fit"; empty: none.
  std::string_view owner() const;
  // The value of the keyword argument with this name; empty: none.
  std::string_view given(std::string_view keyword) const;
  // The positional argument at this position; empty: none.
  std::string_view at(size_t position) const;
};

struct SourceStatement {
  int64_t first = 0, last = 0;  // lines
  size_t indent = 0;
  std::string_view text{};                // one line, without comments
  size_t inside = kNowhere;               // the statement that opens the block around it
  size_t calls_begin = 0, calls_end = 0;  // indices

  // "x" of "x = f(y)", "self.net" of "self.net: nn.Module = f(y)"; empty: none, or several.
  std::string_view assigns{};
  // The right side of the assignment; the value of "return f(y)"; else the whole statement.
  std::string_view value{};
  bool starts_with(std::string_view word) const { return text.starts_with(word); }
};

class PythonSource {
 public:
  explicit PythonSource(const std::vector<std::string>& lines);
  PythonSource(const PythonSource&) = delete;
  PythonSource& operator=(const PythonSource&) = delete;

  const std::vector<SourceStatement>& statements() const { return statements_; }
  const std::vector<SourceCall>& calls() const { return calls_; }

  // The statement around this one that begins with `word` ("def ", "for "), within the same
  // function; kNowhere: none. "def " finds the function, "class " its class.
  size_t around(size_t statement, std::string_view word) const;
  bool in_loop(size_t statement) const;
  // Is it in the block of the other statement, at any depth?
  bool is_within(size_t statement, size_t block) const;

 private:
  struct Mark {
    size_t at;
    int64_t line;
  };
  void split(const std::vector<std::string>& lines);
  void nest();
  void read_calls(size_t statement);
  int64_t line_at(size_t position) const;

  std::string text_;
  std::vector<Mark> marks_;  // where in the text each line begins
  std::vector<SourceStatement> statements_;
  std::vector<SourceCall> calls_;
};

// Without blanks at either end.
std::string_view trimmed(std::string_view text);

}  // namespace headway
