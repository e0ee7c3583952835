#include "headway/train/device/libtorch.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "headway/train/device/device.h"
#include "headway/train/device/threads.h"

namespace headway {
namespace {

// Of the runtime that libtorch has loaded: 12010 is 12.1.
std::string cuda_version() {
  using Function = int(int*);
  int number = 0;
  auto* const ask = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"));
  if (!ask || ask(&number) != 0) return "of unknown version";
  return fmt::format("{}.{}", number / 1000, number / 10 % 100);
}

}  // namespace

LibtorchFacts libtorch_facts() {
  LibtorchFacts out{.version = TORCH_VERSION, .cuda = {}, .why_no_gpu = why_no_gpu(), .blas = {}};
  if (c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) out.cuda = cuda_version();
  out.blas = find_blas().name;
  return out;
}

}  // namespace headway
