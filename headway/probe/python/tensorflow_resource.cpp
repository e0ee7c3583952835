#include "headway/probe/python/tensorflow_resource.h"

namespace headway {
namespace {

constexpr uint64_t kLeastAddress = 1 << 16;
constexpr uint64_t kWord = sizeof(uint64_t);
// How much is searched, in bytes, of each of the objects on the way.
constexpr size_t kOfObject = 160, kOfHandle = 512, kOfDescription = 320, kOfResource = 192;
constexpr size_t kTensor = 32;          // bytes of a tensor
constexpr uint64_t kDataOfBuffer = 16;  // after the table of functions and the count
constexpr int64_t kMostValues = int64_t{1} << 40;
constexpr int kMostSearches = 20, kMostReads = 4000;
constexpr size_t kMostKept = 4000;

// TensorFlow's numbers of types.
constexpr int kResource = 20;
NumberType type_of(int number) {
  switch (number) {
    case 1: return NumberType::kFloat32;
    case 2: return NumberType::kFloat64;
    case 14: return NumberType::kBFloat16;
    case 19: return NumberType::kFloat16;
    default: return NumberType::kOther;
  }
}

struct FoundTensor {
  LiveTensor tensor{};
  int type = 0;
  uint64_t buffer = 0;
};

// 16 bytes for the shape: six sizes of two bytes or three of four; the type, the number of sizes,
// and which of the two. Then the number of values, and a pointer to their buffer.
std::optional<FoundTensor> tensor_in(TargetBytes bytes, uint64_t at) {
  if (at + kTensor > bytes.size()) return std::nullopt;
  FoundTensor out;
  out.type = *bytes.at<uint8_t>(at + 13);
  const int dimensions = *bytes.at<uint8_t>(at + 14), kind = *bytes.at<uint8_t>(at + 15);
  if (kind > 1 || dimensions > (kind == 0 ? 6 : 3)) return std::nullopt;
  out.tensor.values = *bytes.at<int64_t>(at + 16);
  out.buffer = *bytes.at<uint64_t>(at + 24);
  if (out.tensor.values <= 0 || out.tensor.values > kMostValues || out.buffer < kLeastAddress)
    return std::nullopt;
  int64_t product = 1;
  for (int i = 0; i < dimensions; ++i) {
    const int64_t size = kind == 0 ? *bytes.at<uint16_t>(at + 2 * uint64_t(i))
                                   : *bytes.at<uint32_t>(at + 4 * uint64_t(i));
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
    out.tensor.sizes.push_back(size);
  }
  if (product != out.tensor.values) return std::nullopt;
  out.tensor.type = type_of(out.type);
  out.tensor.units_last = true;
  return out;
}

}  // namespace

// From the buffer of the handle's tensor to the tensor of the resource.
uint64_t TensorflowResources::resource_behind(uint64_t buffer, Way& way, int& reads) const {
  const uint64_t description = memory_.value<uint64_t>(buffer + kDataOfBuffer).value_or(0);
  char described[kOfDescription], held[kOfResource];
  if (description < kLeastAddress || !memory_.read(description, described, sizeof described))
    return 0;
  const TargetBytes words(described, sizeof described);
  for (way.resource = 0; way.resource + kWord <= sizeof described; way.resource += kWord) {
    const uint64_t resource = *words.at<uint64_t>(way.resource);
    if (resource < kLeastAddress) continue;
    if (++reads > kMostReads || memory_.stopped()) return 0;
    if (!memory_.read(resource, held, sizeof held)) continue;
    const TargetBytes bytes(held, sizeof held);
    for (way.resources_tensor = kWord; way.resources_tensor + kTensor <= sizeof held;
         way.resources_tensor += kWord) {
      const auto found = tensor_in(bytes, way.resources_tensor);
      if (!found || !found->tensor.is_real() || found->tensor.sizes.empty()) continue;
      if (memory_.value<uint64_t>(found->buffer + kDataOfBuffer).value_or(0) >= kLeastAddress)
        return resource + way.resources_tensor;
    }
  }
  return 0;
}

uint64_t TensorflowResources::find_way(uint64_t handle) {
  if (++searches_ > kMostSearches) return 0;
  char object[kOfObject], inside[kOfHandle];
  if (!memory_.read(handle, object, sizeof object)) return 0;
  const TargetBytes words(object, sizeof object);
  int reads = 0;
  Way way;
  for (way.handle = 2 * kWord; way.handle + kWord <= sizeof object; way.handle += kWord) {
    const uint64_t native = *words.at<uint64_t>(way.handle);
    if (native < kLeastAddress) continue;
    if (++reads > kMostReads || memory_.stopped()) return 0;
    if (!memory_.read(native, inside, sizeof inside)) continue;
    const TargetBytes bytes(inside, sizeof inside);
    for (way.handles_tensor = 0; way.handles_tensor + kTensor <= sizeof inside;
         way.handles_tensor += kWord) {
      const auto found = tensor_in(bytes, way.handles_tensor);
      if (!found || found->type != kResource || found->tensor.values != 1) continue;
      if (const uint64_t tensor = resource_behind(found->buffer, way, reads); tensor != 0) {
        way_ = way;
        return tensor;
      }
    }
  }
  return 0;
}

uint64_t TensorflowResources::follow_way(uint64_t handle) const {
  const uint64_t native = memory_.value<uint64_t>(handle + way_->handle).value_or(0);
  char copy[kTensor];
  if (native < kLeastAddress || !memory_.read(native + way_->handles_tensor, copy, sizeof copy))
    return 0;
  const auto found = tensor_in(TargetBytes(copy, sizeof copy), 0);
  if (!found || found->type != kResource) return 0;
  const uint64_t description = memory_.value<uint64_t>(found->buffer + kDataOfBuffer).value_or(0);
  if (description < kLeastAddress) return 0;
  const uint64_t resource = memory_.value<uint64_t>(description + way_->resource).value_or(0);
  return resource < kLeastAddress ? 0 : resource + way_->resources_tensor;
}

std::optional<LiveTensor> TensorflowResources::value_behind(uint64_t handle) {
  if (tensors_.size() > kMostKept) tensors_.clear();
  uint64_t& at = tensors_[handle];
  if (at == 0) at = way_ ? follow_way(handle) : find_way(handle);
  char copy[kTensor];
  if (at == 0 || !memory_.read(at, copy, sizeof copy)) return std::nullopt;
  auto found = tensor_in(TargetBytes(copy, sizeof copy), 0);
  if (!found || !found->tensor.is_real()) return std::nullopt;
  found->tensor.data = memory_.value<uint64_t>(found->buffer + kDataOfBuffer).value_or(0);
  return found->tensor;
}

}  // namespace headway
