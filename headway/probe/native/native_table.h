#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headway/trace/kinds.h"

namespace headway {

// Which function of which library does what: a list of lines; the first line that matches counts.
// The format is described at the top of native.table, which is built into the program.
class NativeTable {
 public:
  // Throws Error with file name and line if a line is not understood.
  NativeTable(std::string_view text, const std::string& file);
  static const NativeTable& built_in();
  // Reads a file of the user's, whose lines come before the built-in ones. Throws Error also if it
  // cannot be read.
  static NativeTable with_lines_of(const std::string& file);

  // kOther: no line matches. `function` may be empty: not known.
  NativeKind kind_of(std::string_view library, std::string_view function) const;

  size_t size() const { return lines_.size(); }

 private:
  enum class Match { kAny, kPart, kBeginning, kWhole };
  struct Line {
    NativeKind kind{};
    std::string library{}, function{};
    Match match{};

    bool fits(std::string_view in_library, std::string_view in_function) const;
  };
  std::vector<Line> lines_;
};

}  // namespace headway
