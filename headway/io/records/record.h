#pragma once

#include <cstdint>
#include <string_view>

#include "headway/core/tensor.h"

namespace headway {

// One record or line: its bytes, where it starts in the file (after decompression), and what keeps
// the bytes alive. Valid until the reader moves on; a tensor() stays valid.
struct Record {
  std::string_view bytes;
  int64_t offset = -1;
  Storage* block = nullptr;

  Tensor tensor() const { return Tensor::string_view_of(bytes, block); }  // no copy
};

}  // namespace headway
