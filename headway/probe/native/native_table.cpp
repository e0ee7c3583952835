#include "headway/probe/native/native_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "headway/core/error.h"

namespace headway {
namespace {

constexpr std::string_view kBuiltIn =
#include "native_table.inc"
    ;

}  // namespace

NativeTable::NativeTable(std::string_view text, const std::string& file) {
  std::istringstream in{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line);
    std::string kind, library, function, more;
    if (!(words >> kind) || kind[0] == '#') continue;
    const auto known = from_text<NativeKind>(kind);
    if (!known || !(words >> library >> function) || words >> more)
      throw Error(fmt::format("{}:{}: invalid line: {}", file, number, line),
                  "write KIND LIBRARY FUNCTION, as in: decodes libjpeg *");
    Line& out = lines_.emplace_back();
    out.kind = *known;
    if (library != "*") out.library = library;
    out.match = function == "*"             ? Match::kAny
                : function.starts_with("=") ? Match::kWhole
                : function.starts_with("^") ? Match::kBeginning
                                            : Match::kPart;
    const bool marked = out.match == Match::kWhole || out.match == Match::kBeginning;
    if (out.match != Match::kAny) out.function = function.substr(marked ? 1 : 0);
  }
}

const NativeTable& NativeTable::built_in() {
  static const NativeTable table(kBuiltIn, "native.table");
  return table;
}

NativeTable NativeTable::with_lines_of(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    throw Error(fmt::format("cannot read {} (given with --native-table): {}", file,
                            in.is_open() ? "it is empty, or a folder" : std::strerror(errno)),
                "give a text file with lines KIND LIBRARY FUNCTION, as in: decodes libmine *");
  NativeTable out(text.str(), file);
  out.lines_.insert(out.lines_.end(), built_in().lines_.begin(), built_in().lines_.end());
  return out;
}

bool NativeTable::Line::fits(std::string_view in_library, std::string_view in_function) const {
  if (!in_library.starts_with(library)) return false;
  switch (match) {
    case Match::kAny: return true;
    case Match::kPart: return in_function.find(function) != std::string_view::npos;
    case Match::kBeginning: return in_function.starts_with(function);
    case Match::kWhole: return in_function == function;
  }
  return false;
}

NativeKind NativeTable::kind_of(std::string_view library, std::string_view function) const {
  const auto line = std::find_if(lines_.begin(), lines_.end(),
                                 [&](const Line& each) { return each.fits(library, function); });
  return line == lines_.end() ? NativeKind::kOther : line->kind;
}

}  // namespace headway
