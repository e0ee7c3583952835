#pragma once

#include "headway/image/view.h"

namespace headway {

// tf.image's colour adjustments, in place, on uint8, uint16 or float32. Integer images are taken as
// [0, 1], adjusted, clamped and scaled back with tf's truncation; float images are not clamped.

void adjust_brightness(const ImageSpan& image, float delta);
// Around each channel's mean.
void adjust_contrast(const ImageSpan& image, float factor);
// REQUIRES: 3 channels.
void adjust_saturation(const ImageSpan& image, float factor);
// `delta` turns the colour wheel, 1 being all the way round. REQUIRES: 3 channels.
void adjust_hue(const ImageSpan& image, float delta);

// The luma of each pixel, into every channel of `gray` (1 or 3). REQUIRES: 3 channels in `image`;
// same dtype and size. `gray` may be `image`.
void to_grayscale(const ImageView& image, const ImageSpan& gray);

}  // namespace headway
