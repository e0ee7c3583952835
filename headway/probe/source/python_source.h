#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// A Python source as statements and calls: what is called with what, where, in which order. No
// compiler: what it cannot read it leaves out, and a bracket that never closes ends with the next
// function.
//
//   PythonSource source(lines);
//   for (const SourceCall& call : source.calls())
//     if (call.last_name() == "Dense") ... call.given("activation") ...
//
// All texts are views into the PythonSource, which stays where it is and needs the lines no more.

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

struct SourceArgument {
  std::string_view name{};  // of a keyword; empty: by its position
  std::string_view text{};
};

struct SourceCall {
  std::string_view name{};  // "nn.Linear", "self.net"; ".step" of something that is no name
  int64_t line = 0;
  size_t statement = 0;       // index
  size_t inside = kNowhere;   // the call whose argument it is part of
  size_t begin = 0, end = 0;  // in its statement's text: from the name to behind the bracket
  std::vector<SourceArgument> arguments{};

  std::string_view last_name() const { return name.substr(name.rfind('.') + 1); }
  // "model" of "model.fit"; empty: none.
  std::string_view owner() const;
  // What the keyword of this name is given; empty: nothing.
  std::string_view given(std::string_view keyword) const;
  // What is given at this position, without a keyword; empty: nothing.
  std::string_view at(size_t position) const;
};

struct SourceStatement {
  int64_t first = 0, last = 0;  // lines
  size_t indent = 0;
  std::string_view text{};                // one line, without comments
  size_t inside = kNowhere;               // the statement that opens the block in which it stands
  size_t calls_begin = 0, calls_end = 0;  // indices

  // "x" of "x = f(y)", "self.net" of "self.net: nn.Module = f(y)"; empty: nothing, or several.
  std::string_view assigns{};
  // What stands right of that; of "return f(y)" too; else all of it.
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

  // The statement around this one that begins with the word ("def ", "for "), not beyond its
  // function; kNowhere: none. "def " finds the function, "class " its class.
  size_t around(size_t statement, std::string_view word) const;
  bool in_loop(size_t statement) const;
  // Does it stand in the block of the other, at whatever depth?
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

// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace headway
