#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway::cli {

// `batch = 64  # a comment`
struct TomlSetting {
  std::string key;
  std::string value;  // as text: a number as it is written on a command line, true or false
  int64_t line = 0;
};

// The part of TOML that a list of settings needs: one key and one value a line; texts in "" or '',
// whole numbers, numbers, true and false. Tables, lists, dates and texts of several lines are
// refused. Errors begin with "<name>:<line>: ".
std::vector<TomlSetting> parse_flat_toml(std::string_view text, const std::string& name);

}  // namespace headway::cli
