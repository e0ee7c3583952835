#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headway/core/tensor.h"

namespace headway::cli {

struct Picture {
  Tensor image;  // height x width x 1, 3 or 4, uint8 or float32 in 0..255
  std::string caption;
};

// Pictures in a grid on a dark ground, each as large as its cell allows, its caption below.
// Gives a PNG file.
std::vector<uint8_t> contact_sheet(const std::vector<Picture>& pictures);

}  // namespace headway::cli
