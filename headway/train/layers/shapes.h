#pragma once

#include <string>

#include "headway/core/tensor.h"

// Shapes of one sample, where kAny stands for a size that differs from batch to batch.
namespace headway {

std::string text(const Shape& shape);                // "28x28x1", "anyx64"
bool fits(const Shape& given, const Shape& wanted);  // kAny fits every size, on both sides
int64_t count_or_any(const Shape& shape);            // kAny when a dimension is

// The size of `axis`. Error when it is kAny: weights need a number. REQUIRES: 0 <= axis < rank().
int64_t known_size(const std::string& kind, const Shape& input, int axis);

// Error, with the Reshape that would help, unless `input` is height x width x channels.
void require_image(const std::string& kind, const Shape& input);

}  // namespace headway
