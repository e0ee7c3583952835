#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "headway/core/element.h"

namespace headway::cli {

// What one field looked like in the elements seen so far: type, shapes, and the spread of values.
class FieldStatistics {
 public:
  explicit FieldStatistics(std::string name) : name_(std::move(name)) {}
  void add(const Tensor& value);

  const std::string& name() const { return name_; }
  std::string type() const;
  std::string shape() const;   // "240x320x3", or "240..480 x 320 x 3" where they differ
  std::string values() const;  // "0 .. 255", or the first text
  std::string mean() const;    // "" for text
  std::string deviation() const;
  nlohmann::json json() const;

 private:
  template <typename T>
  void add_numbers(const Tensor& value);
  void add_text(const Tensor& value);

  std::string name_;
  DType dtype_ = DType::kInt64;
  std::vector<int64_t> least_, most_;  // of each dimension
  bool ranks_differ_ = false;
  int64_t elements_ = 0;
  double count_ = 0, sum_ = 0, squares_ = 0, low_ = 0, high_ = 0;
  std::string first_text_;
  int64_t shortest_ = 0, longest_ = 0;  // of texts, in bytes
};

// The fields of elements, in their order.
class ElementStatistics {
 public:
  void add(const Element& element);
  int64_t elements() const { return elements_; }
  const std::vector<FieldStatistics>& fields() const { return fields_; }

 private:
  std::vector<FieldStatistics> fields_;
  int64_t elements_ = 0;
};

// Text for people: bytes that are no text become "JPEG, 25.4 KB", long ones are cut.
std::string show_bytes(std::string_view bytes);

}  // namespace headway::cli
