#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "headway/core/text.h"

namespace headway::cli {

std::string time_text(double seconds);                    // "0.42 s", "3:07", "1:02:03"
std::string counted(int64_t n, const std::string& noun);  // "1 image", "2,000 images"

// The one object a machine gets, on a line of standard output.
void print_json(const nlohmann::json& object);
void print_json_in_order(const nlohmann::ordered_json& object);

// Rows under a heading, columns as wide as they need to be. Columns are left-aligned unless their
// heading starts with '>'.
//
//   Table table({"stage", ">time", ">share"});
//   table.row({"decode", "1.2 s", "80%"});
//   table.print();
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  void row(std::vector<std::string> cells);
  void print(int indent = 2) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace headway::cli
