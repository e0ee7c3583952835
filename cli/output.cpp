#include "cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "headway/core/print.h"

namespace headway::cli {

std::string time_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string counted(int64_t n, const std::string& noun) {
  if (n == 1) return "1 " + noun;
  return with_commas(n) + " " + noun + (noun.ends_with("s") ? "es" : "s");
}

// Names of files need not be UTF-8, and may steer a terminal; a machine still gets JSON.
void print_json(const nlohmann::json& object) {
  print_lines(
      stdout,
      object.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_json_in_order(const nlohmann::ordered_json& object) {
  print_lines(stdout, object.dump(-1, ' ', /*ensure_ascii=*/true,
                                  nlohmann::ordered_json::error_handler_t::replace) +
                          "\n");
}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = visible(cell);
  rows_.push_back(std::move(cells));
}

void Table::print(int indent) const {
  const std::vector<std::string>& headings = rows_[0];
  const auto right = [&](size_t column) { return headings[column].starts_with('>'); };
  std::vector<size_t> widths(headings.size());
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      widths[c] = std::max(widths[c], rows_[r][c].size() - (r == 0 && right(c) ? 1 : 0));
    }
  }
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line(indent, ' ');
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string cell = r == 0 && right(c) ? rows_[r][c].substr(1) : rows_[r][c];
      line += right(c) ? fmt::format("{:>{}}  ", cell, widths[c])
                       : fmt::format("{:<{}}  ", cell, widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    headway::print("{}\n", line);
  }
}

}  // namespace headway::cli
