#include "headway/probe/python/numpy_array.h"

namespace headway {
namespace {

constexpr uint64_t kLeastAddress = 1 << 16;
constexpr int32_t kMostDimensions = 8, kInCOrder = 1;  // a flag
constexpr int64_t kMostValues = int64_t{1} << 40;

// NumPy's number of a type.
NumberType type_of(int32_t number) {
  switch (number) {
    case 11: return NumberType::kFloat32;
    case 12: return NumberType::kFloat64;
    case 23: return NumberType::kFloat16;
    default: return NumberType::kOther;
  }
}

}  // namespace

// After count and type of the object: values, number of sizes, sizes, strides, base, description,
// flags. The description: count, type, class, four letters, number of the type.
std::optional<LiveTensor> numpy_array(const MemoryReader& memory, uint64_t object) {
  char copy[72], described[32];
  if (object < kLeastAddress || !memory.read(object, copy, sizeof copy)) return std::nullopt;
  const TargetBytes bytes(copy, sizeof copy);
  LiveTensor out;
  out.data = *bytes.at<uint64_t>(16);
  const int32_t dimensions = *bytes.at<int32_t>(24);
  const uint64_t sizes = *bytes.at<uint64_t>(32), description = *bytes.at<uint64_t>(56);
  if ((*bytes.at<int32_t>(64) & kInCOrder) == 0) return std::nullopt;
  if (dimensions < 1 || dimensions > kMostDimensions) return std::nullopt;
  if (description < kLeastAddress || !memory.read(description, described, sizeof described))
    return std::nullopt;
  out.type = type_of(*TargetBytes(described, sizeof described).at<int32_t>(28));
  char read_sizes[8 * kMostDimensions];
  const size_t length = 8 * size_t(dimensions);
  if (sizes < kLeastAddress || !memory.read(sizes, read_sizes, length)) return std::nullopt;
  out.values = 1;
  for (int32_t i = 0; i < dimensions; ++i) {
    const int64_t size = *TargetBytes(read_sizes, length).at<int64_t>(8 * uint64_t(i));
    if (size < 0 || __builtin_mul_overflow(out.values, size, &out.values)) return std::nullopt;
    out.sizes.push_back(size);
  }
  if (out.values > kMostValues || !out.is_real()) return std::nullopt;
  return out;
}

}  // namespace headway
