#pragma once

#include "headway/image/view.h"

namespace headway {

// Turns an image upright: `orientation` is EXIF's, 1 to 8. From 5 on, width and height change
// places; `target` has the turned size and is another image.
void orient(const ImageView& source, int orientation, const ImageSpan& target);

inline bool turns_sideways(int orientation) { return orientation >= 5; }

}  // namespace headway
