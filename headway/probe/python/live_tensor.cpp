#include "headway/probe/python/live_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace headway {
namespace {

constexpr uint64_t kLeastAddress = 1 << 16;

double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = (bits & 1023) / 1024.0;
  const double size = exponent == 0    ? fraction / 16384
                      : exponent == 31 ? std::numeric_limits<double>::quiet_NaN()
                                       : (1 + fraction) * std::exp2(exponent - 15);
  return bits >> 15 ? -size : size;
}

double number_at(TargetBytes bytes, uint64_t index, NumberType type) {
  switch (type) {
    case NumberType::kFloat64: return *bytes.at<double>(8 * index);
    case NumberType::kFloat32: return *bytes.at<float>(4 * index);
    case NumberType::kBFloat16:
      return std::bit_cast<float>(uint32_t(*bytes.at<uint16_t>(2 * index)) << 16);
    default: return half_to_double(*bytes.at<uint16_t>(2 * index));
  }
}

}  // namespace

uint64_t width_of(NumberType type) {
  return type == NumberType::kFloat64 ? 8 : type == NumberType::kFloat32 ? 4 : 2;
}

std::vector<double> TensorValues::stretch(const LiveTensor& tensor, int64_t from,
                                          int64_t count) const {
  const size_t width = width_of(tensor.type);
  std::vector<char> copy(width * size_t(count));
  if (!memory_.read(tensor.data + width * uint64_t(from), copy.data(), copy.size())) return {};
  const TargetBytes bytes(copy.data(), copy.size());
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(number_at(bytes, uint64_t(i), tensor.type));
  return out;
}

std::vector<double> TensorValues::some_of(const LiveTensor& tensor, int64_t most) const {
  constexpr int64_t kParts = 8;
  if (!tensor.is_real() || tensor.data < kLeastAddress || tensor.values == 0) return {};
  if (tensor.values <= most) return stretch(tensor, 0, tensor.values);
  std::vector<double> out;
  const int64_t each = std::max<int64_t>(1, most / kParts);
  for (int64_t part = 0; part < kParts; ++part) {
    const int64_t from = (tensor.values - each) / (kParts - 1) * part;
    const std::vector<double> some = stretch(tensor, from, each);
    if (some.empty()) return {};
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

bool TensorValues::units_are_equal(const LiveTensor& kernel) const {
  constexpr int64_t kUnits = 4, kOfAUnit = 32;
  const int64_t all = kernel.units();
  if (!kernel.is_kernel() || all < 2 || !kernel.is_real() || kernel.values == 0) return false;
  const int64_t units = std::min(kUnits, all), inputs = kernel.values / all;
  const int64_t some = std::min(kOfAUnit, inputs);
  if (!kernel.units_last) {
    const std::vector<double> first = stretch(kernel, 0, some);
    if (first.empty()) return false;
    for (int64_t i = 1; i < units; ++i)
      if (stretch(kernel, i * inputs, some) != first) return false;
    return true;
  }
  for (int64_t i = 0; i < some; ++i) {  // the weights of one input, side by side
    const std::vector<double> row = stretch(kernel, i * all, units);
    if (row.empty() || std::any_of(row.begin(), row.end(), [&](double v) { return v != row[0]; }))
      return false;
  }
  return true;
}

}  // namespace headway
