#pragma once

#include <array>

#include "headway/image/choices.h"
#include "headway/image/view.h"

namespace headway {

// Maps output (row, column) to source (row, column):
//   row = m[0] * y + m[1] * x + m[2],  column = m[3] * y + m[4] * x + m[5]
using AffineMatrix = std::array<double, 6>;

struct AffineSettings {
  double rotation_degrees = 0;
  double shift_rows = 0;  // in pixels
  double shift_columns = 0;
  double shear_degrees = 0;
  double zoom_rows = 1;
  double zoom_columns = 1;
};

// Rotation, shift, shear and zoom about the centre of a height x width image, combined in the order
// of keras' apply_affine_transform.
AffineMatrix affine_matrix(const AffineSettings& settings, int height, int width);

// Linear interpolation (order 1). `target` has the source's dtype, size and channels, and is
// another image; integer types are rounded to nearest.
void affine(const ImageView& source, const AffineMatrix& matrix, FillMode fill, float fill_value,
            const ImageSpan& target);

}  // namespace headway
