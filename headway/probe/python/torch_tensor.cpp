#include "headway/probe/python/torch_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace headway {
namespace {

constexpr int kHalf = 5, kFloat = 6, kDouble = 7, kBFloat16 = 15;
constexpr uint64_t kFarthestBack = 96;
constexpr size_t kHead = 256;           // bytes of a tensor that are read
constexpr int64_t kMostDimensions = 5;  // in tensors that store their sizes inside
constexpr int64_t kMostValues = int64_t{1} << 40;
constexpr uint64_t kLeastAddress = 1 << 16;

size_t width_of(int type) { return type == kDouble ? 8 : type == kFloat ? 4 : 2; }

// The counts take 8 or 16 bytes: the first thing after them is a pointer.
uint64_t after_counts(TargetBytes object) {
  return object.at<uint64_t>(16).value_or(0) >= kLeastAddress ? 16 : 24;
}

double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = (bits & 1023) / 1024.0;
  const double size = exponent == 0    ? fraction / 16384
                      : exponent == 31 ? std::numeric_limits<double>::quiet_NaN()
                                       : (1 + fraction) * std::exp2(exponent - 15);
  return bits >> 15 ? -size : size;
}

double number_at(TargetBytes bytes, uint64_t index, int type) {
  switch (type) {
    case kDouble: return *bytes.at<double>(8 * index);
    case kFloat: return *bytes.at<float>(4 * index);
    case kBFloat16: return std::bit_cast<float>(uint32_t(*bytes.at<uint16_t>(2 * index)) << 16);
    default: return half_to_double(*bytes.at<uint16_t>(2 * index));
  }
}

}  // namespace

bool TorchTensor::is_real() const {
  return type == kHalf || type == kFloat || type == kDouble || type == kBFloat16;
}

// After the counts: storage, autograd's data, something else, the version; then, perhaps after
// another word, the pointer back; then the number of sizes, five sizes, five strides, the offset in
// the storage, the number of values and their type.
std::optional<TorchTensor> TorchTensors::read(uint64_t address, uint64_t back) const {
  char copy[kHead];
  if (address < kLeastAddress || !memory_.read(address, copy, sizeof copy)) return std::nullopt;
  const TargetBytes bytes(copy, sizeof copy);
  const uint64_t storage = after_counts(bytes);
  TorchTensor out;
  const int64_t dimensions = *bytes.at<int64_t>(back + 8);
  out.values = *bytes.at<int64_t>(back + 104);
  out.type = *bytes.at<uint16_t>(back + 112);
  if (dimensions < 0 || dimensions > kMostDimensions) return std::nullopt;
  if (out.values < 0 || out.values > kMostValues) return std::nullopt;
  int64_t product = 1;
  for (int64_t i = 0; i < dimensions; ++i) {
    const int64_t size = *bytes.at<int64_t>(back + 16 + 8 * uint64_t(i));
    if (size < 0 || size > out.values) return std::nullopt;
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
    out.sizes.push_back(size);
  }
  if (product != out.values) return std::nullopt;
  const uint64_t kept = *bytes.at<uint64_t>(storage);
  const uint64_t autograd = *bytes.at<uint64_t>(storage + 8);
  const uint64_t version = *bytes.at<uint64_t>(storage + 24);
  const int64_t begins = *bytes.at<int64_t>(back + 96);
  if (char head[32]; kept >= kLeastAddress && memory_.read(kept, head, sizeof head)) {
    const TargetBytes counted(head, sizeof head);
    out.data = *counted.at<uint64_t>(after_counts(counted));
    if (out.is_real() && begins > 0 && begins < kMostValues)
      out.data += width_of(out.type) * uint64_t(begins);
  }
  constexpr TargetField<uint64_t> kGradient = 40;  // after a name
  if (autograd >= kLeastAddress) out.gradient = memory_.get(autograd, kGradient).value_or(0);
  if (char head[32]; version >= kLeastAddress && memory_.read(version, head, sizeof head)) {
    const TargetBytes counted(head, sizeof head);
    out.version = *counted.at<uint32_t>(storage);
  }
  return out;
}

std::optional<TorchTensor> TorchTensors::of_object(uint64_t object) {
  for (const uint64_t held : {16, 24}) {  // a pointer, or a mark and a pointer
    const uint64_t address = memory_.value<uint64_t>(object + held).value_or(0);
    if (address < kLeastAddress) continue;
    for (uint64_t back = 40; back <= kFarthestBack; back += 8) {
      if (back_ != 0 && back != back_) continue;
      if (memory_.value<uint64_t>(address + back) != object) continue;
      auto tensor = read(address, back);
      if (tensor) back_ = back;
      return tensor;
    }
  }
  return std::nullopt;
}

std::optional<TorchTensor> TorchTensors::at(uint64_t address) const {
  return back_ == 0 ? std::nullopt : read(address, back_);
}

std::vector<double> TorchTensors::stretch(const TorchTensor& tensor, int64_t from,
                                          int64_t count) const {
  const size_t width = width_of(tensor.type);
  std::vector<char> copy(width * size_t(count));
  if (!memory_.read(tensor.data + width * uint64_t(from), copy.data(), copy.size())) return {};
  const TargetBytes bytes(copy.data(), copy.size());
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(number_at(bytes, uint64_t(i), tensor.type));
  return out;
}

std::vector<double> TorchTensors::values_of(const TorchTensor& tensor, int64_t most) const {
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

bool TorchTensors::rows_are_equal(const TorchTensor& tensor) const {
  constexpr int64_t kRows = 4, kOfARow = 32;
  if (tensor.sizes.size() < 2 || tensor.sizes[0] < 2 || !tensor.is_real() || tensor.values == 0)
    return false;
  const int64_t row = tensor.values / tensor.sizes[0];
  const std::vector<double> first = stretch(tensor, 0, std::min(row, kOfARow));
  if (first.empty()) return false;
  for (int64_t i = 1; i < std::min(kRows, tensor.sizes[0]); ++i)
    if (stretch(tensor, i * row, std::min(row, kOfARow)) != first) return false;
  return true;
}

}  // namespace headway
