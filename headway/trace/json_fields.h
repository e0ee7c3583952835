#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headway/core/json.h"
#include "headway/trace/kinds.h"
#include "headway/trace/step_counters.h"

// Converts records to JSON and back, by their each_field. Only trace_file.cpp includes this.
namespace headway {

using OrderedJson = nlohmann::ordered_json;  // people read the lines: fields keep our order

template <typename T>
concept HasFields = requires(T& t) {
  each_field(t, [](const char*, auto&) {});
};

template <typename T>
concept ListOfRecords = requires {
  typename T::value_type;
}
&&HasFields<typename T::value_type>;

inline double rounded(double value) {  // to nanoseconds, so that a line stays readable
  return std::abs(value) < 1e-3 || std::abs(value) > 1e9 ? value : std::round(value * 1e9) / 1e9;
}

// A field that has the value of a new record is left out.
template <typename T>
OrderedJson to_json(const T& value) {
  if constexpr (HasFields<const T>) {
    static const std::vector<OrderedJson> ordinary = [] {
      std::vector<OrderedJson> fields;
      const T fresh{};
      each_field(fresh, [&](const char*, const auto& v) { fields.push_back(to_json(v)); });
      return fields;
    }();
    OrderedJson out = OrderedJson::object();
    size_t i = 0;
    each_field(value, [&](const char* key, const auto& v) {
      OrderedJson field = to_json(v);
      if (!(field == ordinary[i++])) out[key] = std::move(field);  // != would be false for a NaN
    });
    return out;
  } else if constexpr (std::is_same_v<T, StepTimes>) {
    OrderedJson out = OrderedJson::object();
    for (size_t i = 0; i < kStepPhases; ++i) {
      if (value.seconds[i] > 0) out[std::string(kStepPhaseNames[i])] = rounded(value.seconds[i]);
    }
    return out;
  } else if constexpr (ListOfRecords<T>) {
    OrderedJson out = OrderedJson::array();
    for (const auto& each : value) out.push_back(to_json(each));
    return out;
  } else if constexpr (std::is_same_v<T, double>) {
    return rounded(value);
  } else if constexpr (HasTexts<T>) {
    return OrderedJson(std::string(text_of(value)));
  } else {
    return OrderedJson(value);
  }
}

// Counts, bytes, pids: limited, so that their sums and differences cannot overflow.
inline int64_t count_in(const JsonView& in) {
  constexpr int64_t kLargest = int64_t{1} << 53;
  const auto count = in.as<int64_t>();
  if (count >= -kLargest && count <= kLargest) return count;
  throw Error(
      fmt::format("the field '{}' is {}, but must be between -2^53 and 2^53", in.name(), count));
}

// A field that is missing keeps its value.
template <typename T>
void from_json(const JsonView& in, T& value) {
  if constexpr (HasFields<T>) {
    each_field(value, [&](const char* key, auto& v) {
      if (const auto found = in.find(key)) from_json(*found, v);
    });
  } else if constexpr (std::is_same_v<T, StepTimes>) {
    for (size_t i = 0; i < kStepPhases; ++i) value.seconds[i] = in.get(kStepPhaseNames[i], 0.0);
  } else if constexpr (ListOfRecords<T>) {
    value.clear();
    for (size_t i = 0; i < in.size(); ++i) from_json(in.at(i), value.emplace_back());
  } else if constexpr (std::is_same_v<T, int64_t>) {
    value = count_in(in);
  } else if constexpr (HasTexts<T>) {
    const auto text = in.as<std::string>();
    const auto known = from_text<T>(text);
    if (!known)
      throw Error(fmt::format("the field '{}' has the unknown value '{}'", in.name(), text));
    value = *known;
  } else {
    value = in.as<T>();
  }
}

}  // namespace headway
