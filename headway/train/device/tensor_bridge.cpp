#include "headway/train/device/tensor_bridge.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <deque>

namespace headway {
namespace {

// The stream that copies use on this device, made once.
c10::Stream upload_stream(c10::Device device) {
  static const c10::Stream stream =
      c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  return stream;
}

// Keeps a tensor while it is copied: otherwise its memory would be reused for the next batch.
// Training thread only.
void keep_until(c10::Event done, at::Tensor tensor) {
  // Never destroyed: at exit CUDA may be unloaded first.
  static auto& copying = *new std::deque<std::pair<c10::Event, at::Tensor>>;
  while (!copying.empty() && copying.front().first.query()) copying.pop_front();
  copying.emplace_back(std::move(done), std::move(tensor));
}

}  // namespace

Shape shape_of(const at::Tensor& tensor) {
  return Shape(std::span(tensor.sizes().data(), tensor.sizes().size()));
}

at::ScalarType torch_type(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return at::kByte;
    case DType::kInt32: return at::kInt;
    case DType::kInt64: return at::kLong;
    case DType::kFloat32: return at::kFloat;
    case DType::kFloat64: return at::kDouble;
    case DType::kBool: return at::kBool;
    case DType::kUInt16:
    case DType::kString: break;
  }
  throw Error(fmt::format("libtorch does not support tensors of type {}", name_of(dtype)),
              "convert the field with .map() before training (to int64 or float32, say), or leave "
              "it out");
}

DType headway_type(at::ScalarType type) {
  switch (type) {
    case at::kByte: return DType::kUInt8;
    case at::kInt: return DType::kInt32;
    case at::kLong: return DType::kInt64;
    case at::kFloat: return DType::kFloat32;
    case at::kDouble: return DType::kFloat64;
    case at::kBool: return DType::kBool;
    default:
      throw Error(fmt::format("Headway does not support tensors of type {}", c10::toString(type)),
                  "convert the tensor first, as in tensor.to(torch::kFloat32)");
  }
}

at::Tensor to_torch(const Tensor& tensor) {
  const Shape shape = tensor.shape();
  const at::IntArrayRef sizes(shape.begin(), shape.rank());
  const auto options = at::TensorOptions(torch_type(tensor.dtype()));
  if (shape.rank() == 0) {  // held inside the object
    return at::from_blob(const_cast<void*>(tensor.data()), sizes, options).clone();
  }
  Tensor keep = tensor;
  return at::from_blob(
      const_cast<void*>(tensor.data()), sizes, [keep](void*) {}, options);
}

Tensor from_torch(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  const auto owner = Storage::adopt(host.data_ptr(), host.nbytes(), [host](void*, size_t) {});
  const Tensor view =
      Tensor::view(headway_type(host.scalar_type()), shape_of(host), host.data_ptr(), owner);
  owner->drop();  // the view holds it now
  return view;
}

at::Tensor upload(const at::Tensor& tensor, c10::Device device) {
  if (device.is_cpu() || tensor.device() == device) return tensor;
  const c10::impl::VirtualGuardImpl guard(device.type());
  const c10::Stream copies = upload_stream(device);
  const at::Tensor here = tensor.is_pinned() ? tensor : tensor.pin_memory();
  at::Tensor there;
  {
    const c10::StreamGuard on_copies(copies);
    there = here.to(device, /*non_blocking=*/true);
  }
  c10::Event done(device.type());
  done.record(copies);
  const c10::Stream steps = guard.getStream(device);
  done.block(steps);
  there.record_stream(steps);
  keep_until(std::move(done), here);
  return there;
}

}  // namespace headway
