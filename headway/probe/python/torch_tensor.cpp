#include "headway/probe/python/torch_tensor.h"

namespace headway {
namespace {

constexpr uint64_t kFarthestBack = 96;
constexpr size_t kHead = 256;           // bytes of a tensor that are read
constexpr int64_t kMostDimensions = 5;  // in tensors that store their sizes inside
constexpr int64_t kMostValues = int64_t{1} << 40;
constexpr uint64_t kLeastAddress = 1 << 16;

// The counts take 8 or 16 bytes: the first thing after them is a pointer.
uint64_t after_counts(TargetBytes object) {
  return object.at<uint64_t>(16).value_or(0) >= kLeastAddress ? 16 : 24;
}

// PyTorch's number of a type.
NumberType type_of(int number) {
  switch (number) {
    case 5: return NumberType::kFloat16;
    case 6: return NumberType::kFloat32;
    case 7: return NumberType::kFloat64;
    case 15: return NumberType::kBFloat16;
    default: return NumberType::kOther;
  }
}

}  // namespace

// After the counts: storage, autograd's data, something else, the version; then, perhaps after
// another word, the pointer back; then the number of sizes, five sizes, five strides, the offset in
// the storage, the number of values and their type.
std::optional<LiveTensor> TorchTensors::read(uint64_t address, uint64_t back) const {
  char copy[kHead];
  if (address < kLeastAddress || !memory_.read(address, copy, sizeof copy)) return std::nullopt;
  const TargetBytes bytes(copy, sizeof copy);
  const uint64_t storage = after_counts(bytes);
  LiveTensor out;
  const int64_t dimensions = *bytes.at<int64_t>(back + 8);
  out.values = *bytes.at<int64_t>(back + 104);
  out.type = type_of(*bytes.at<uint16_t>(back + 112));
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

std::optional<LiveTensor> TorchTensors::of_object(uint64_t object) {
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

std::optional<LiveTensor> TorchTensors::at(uint64_t address) const {
  return back_ == 0 ? std::nullopt : read(address, back_);
}

}  // namespace headway
