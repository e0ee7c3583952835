#pragma once

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "headway/train/model/model.h"

// Inside train/: matrix products in bfloat16 while a PrecisionGuard exists.
namespace headway {

class PrecisionGuard {
 public:
  PrecisionGuard(Precision precision, c10::Device device)
      : active_(precision == Precision::kBFloat16), type_(device.type()) {
    if (active_) set(true);
  }
  ~PrecisionGuard() {
    if (!active_) return;
    at::autocast::clear_cache();  // of weights in bfloat16, which are about to change
    set(false);
  }
  PrecisionGuard(const PrecisionGuard&) = delete;

 private:
  void set(bool on) {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
    at::autocast::set_autocast_dtype(type_, at::kBFloat16);
    at::autocast::set_autocast_enabled(type_, on);
#else
    if (type_ == at::kCPU) {
      at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
      at::autocast::set_cpu_enabled(on);
    } else {
      at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
      at::autocast::set_enabled(on);
    }
#endif
  }

  bool active_;
  c10::DeviceType type_;
};

}  // namespace headway
