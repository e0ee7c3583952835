#pragma once

#include <cstdint>
#include <string>

#include "headway/core/element.h"

// Inside train/: finds the bad sample of a batch.
namespace headway {

// "photos/cat.jpg" where the batch has paths, else "sample 17 of the batch of step 42".
std::string sample_name(const Batch& batch, int64_t row, int64_t step);

// Error when a floating-point field of the batch holds NaN or infinity: names sample and field.
void check_finite_values(const Batch& batch, int64_t step);

// Error when a label is outside 0 .. classes - 1: names sample, label and classes.
void check_labels(const Batch& batch, const std::string& field, int64_t classes, int64_t step);

}  // namespace headway
