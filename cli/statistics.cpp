#include "cli/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/transcode.h"

namespace headway::cli {
namespace {

constexpr size_t kTextShown = 48;

bool printable(std::string_view bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 127 || (byte < 32 && c != '\t' && c != '\n' && c != '\r');
  });
}

double deviation_of(double count, double sum, double squares) {
  const double mean = sum / count;
  return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

}  // namespace

std::string show_bytes(std::string_view bytes) {
  const ImageFormat format =
      format_of({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  const std::string size = size_text(static_cast<double>(bytes.size()));
  if (format != ImageFormat::kUnknown) return fmt::format("{}, {}", name_of(format), size);
  if (!printable(bytes)) return "binary, " + size;
  std::string text(bytes.substr(0, kTextShown));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return bytes.size() <= kTextShown ? '"' + text + '"' : fmt::format("\"{}...\" {}", text, size);
}

void FieldStatistics::add(const Tensor& value) {
  dtype_ = value.dtype();
  const Shape shape = value.shape();
  if (elements_ == 0) least_ = most_ = {shape.begin(), shape.end()};
  ranks_differ_ |= static_cast<size_t>(shape.rank()) != least_.size();
  for (int i = 0; i < shape.rank() && !ranks_differ_; ++i) {
    least_[i] = std::min(least_[i], shape[i]), most_[i] = std::max(most_[i], shape[i]);
  }
  switch (dtype_) {
    case DType::kUInt8: add_numbers<uint8_t>(value); break;
    case DType::kUInt16: add_numbers<uint16_t>(value); break;
    case DType::kInt32: add_numbers<int32_t>(value); break;
    case DType::kInt64: add_numbers<int64_t>(value); break;
    case DType::kFloat32: add_numbers<float>(value); break;
    case DType::kFloat64: add_numbers<double>(value); break;
    case DType::kBool: add_numbers<bool>(value); break;
    case DType::kString: add_text(value); break;
  }
  ++elements_;
}

template <typename T>
void FieldStatistics::add_numbers(const Tensor& value) {
  for (const T each : value.values<T>()) {
    const auto x = static_cast<double>(each);
    low_ = count_ == 0 ? x : std::min(low_, x);
    high_ = count_ == 0 ? x : std::max(high_, x);
    sum_ += x, squares_ += x * x, ++count_;
  }
}

void FieldStatistics::add_text(const Tensor& value) {
  for (const std::string_view text : value.values<std::string_view>()) {
    const auto size = static_cast<int64_t>(text.size());
    if (count_ == 0) first_text_ = show_bytes(text), shortest_ = longest_ = size;
    shortest_ = std::min(shortest_, size), longest_ = std::max(longest_, size);
    ++count_;
  }
}

std::string FieldStatistics::type() const { return std::string(name_of(dtype_)); }

std::string FieldStatistics::shape() const {
  if (ranks_differ_) return "differs";
  if (least_.empty()) return "scalar";
  std::string text;
  for (size_t i = 0; i < least_.size(); ++i) {
    if (i > 0) text += "x";
    text += least_[i] == most_[i] ? std::to_string(least_[i])
                                  : fmt::format("({}..{})", least_[i], most_[i]);
  }
  return text;
}

std::string FieldStatistics::values() const {
  if (count_ == 0) return "";
  if (dtype_ == DType::kString) return first_text_;
  return low_ == high_ ? fmt::format("{:.4g}", low_) : fmt::format("{:.4g} .. {:.4g}", low_, high_);
}

std::string FieldStatistics::mean() const {
  return dtype_ == DType::kString || count_ == 0 ? "" : fmt::format("{:.4g}", sum_ / count_);
}

std::string FieldStatistics::deviation() const {
  return dtype_ == DType::kString || count_ == 0
             ? ""
             : fmt::format("{:.4g}", deviation_of(count_, sum_, squares_));
}

nlohmann::json FieldStatistics::json() const {
  nlohmann::json out = {{"name", name_},
                        {"dtype", type()},
                        {"shape", shape()},
                        {"shape_least", least_},
                        {"shape_most", most_}};
  if (count_ == 0) return out;
  if (dtype_ == DType::kString) {
    out.update({{"example", first_text_}, {"bytes_least", shortest_}, {"bytes_most", longest_}});
  } else {
    out.update({{"min", low_},
                {"max", high_},
                {"mean", sum_ / count_},
                {"std", deviation_of(count_, sum_, squares_)}});
  }
  return out;
}

void ElementStatistics::add(const Element& element) {
  ++elements_;
  for (const Field& field : element.fields()) {
    auto known = std::find_if(fields_.begin(), fields_.end(),
                              [&](const auto& f) { return f.name() == field.name.str(); });
    if (known == fields_.end()) known = fields_.emplace(fields_.end(), field.name.str());
    known->add(field.value);
  }
}

}  // namespace headway::cli
