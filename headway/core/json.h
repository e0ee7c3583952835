#pragma once

#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "headway/core/error.h"

// JSON that a stranger may have written. The one way in which Headway reads it. Included by sources
// only: who links with Headway needs no nlohmann_json.
//
//   const nlohmann::json json = parse_json(text);
//   const JsonView state(json);
//   const auto step = state["step"].as<int64_t>();  // Error: 'step' is a text where a whole ...
namespace headway {

// Whoever walks JSON calls itself: nesting is bounded so that the stack is.
struct JsonLimits {
  size_t max_bytes = size_t{64} << 20;
  size_t max_depth = 32;
  size_t max_values = size_t{4} << 20;  // each takes up to a hundred bytes once parsed
};

class JsonError : public Error {
 public:
  JsonError(const std::string& problem, size_t byte, bool over_limit)
      : Error(problem), byte_(byte), over_limit_(over_limit) {}
  size_t byte() const { return byte_; }            // where in the text
  bool over_limit() const { return over_limit_; }  // too much of it; else it is no JSON, or cut

 private:
  size_t byte_;
  bool over_limit_;
};

// Throws JsonError. `each` is nlohmann's: called with every key and value.
nlohmann::json parse_json(std::string_view text, const JsonLimits& limits = {},
                          const nlohmann::json::parser_callback_t& each = nullptr);

// The next line without its end; false when there is none, with `in` as std::getline leaves it. A
// longer line than that is an Error.
bool read_line(std::istream& in, std::string& line, size_t max_bytes = JsonLimits().max_bytes);

// A value and its name, for messages. What is missing or of another kind is an Error that names it.
// Lives no longer than the JSON it looks at.
class JsonView {
 public:
  explicit JsonView(const nlohmann::json& value, std::string_view name = "the whole")
      : value_(&value), name_(name) {}

  JsonView operator[](const char* key) const;
  JsonView at(size_t i) const;                               // of a list
  std::optional<JsonView> find(std::string_view key) const;  // Error when this is no object
  size_t size() const;                                       // of a list
  const nlohmann::json& object() const;                      // Error when this is none
  std::string_view name() const { return name_; }
  bool is_null() const { return value_->is_null(); }

  // bool, std::string, any integer that can hold it, double (null is NaN: JSON has none), and
  // std::pair (a list of two), std::vector, std::map<std::string, T> of them.
  template <typename T>
  T as() const;
  template <typename T>
  T get(std::string_view key, T otherwise) const {
    const auto found = find(key);
    return found ? found->as<T>() : otherwise;
  }

 private:
  const nlohmann::json& expect(nlohmann::json::value_t kind, const char* wanted) const;
  [[noreturn]] void wrong(const char* wanted) const;
  template <typename T>
  T whole_number() const;
  double number() const;

  const nlohmann::json* value_;
  std::string_view name_;
};

// ---- the small print ----

template <typename T>
T JsonView::as() const {
  using Kind = nlohmann::json::value_t;
  if constexpr (std::is_same_v<T, bool>) {
    return expect(Kind::boolean, "true or false").get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return expect(Kind::string, "a text").get_ref<const std::string&>();
  } else if constexpr (std::is_integral_v<T>) {
    return whole_number<T>();
  } else if constexpr (std::is_same_v<T, double>) {
    return number();
  } else if constexpr (requires { typename T::first_type; }) {
    if (size() != 2) wrong("a list of two");
    return {at(0).as<typename T::first_type>(), at(1).as<typename T::second_type>()};
  } else if constexpr (requires { typename T::mapped_type; }) {
    T map;
    for (const auto& [key, value] : object().items()) {
      map.emplace(key, JsonView(value, key).as<typename T::mapped_type>());
    }
    return map;
  } else {
    T list;
    list.reserve(size());
    for (size_t i = 0; i < size(); ++i) list.push_back(at(i).as<typename T::value_type>());
    return list;
  }
}

template <typename T>
T JsonView::whole_number() const {
  if (value_->is_number_unsigned()) {
    const auto number = value_->get<uint64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  } else if (value_->is_number_integer()) {
    const auto number = value_->get<int64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  }
  wrong("a whole number in the allowed range");
}

}  // namespace headway
