#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "headway/core/tensor.h"
#include "headway/image/choices.h"
#include "headway/image/view.h"

namespace headway {

// What a resize computes: an image of `source_width` x `source_height` is scaled to `width` x
// `height`, of which only `window` is written. Equal sizes and kNearest make it a crop or a copy.
//
// Pixels are those of tf.image.resize (half-pixel centres, Keys cubic with a = -0.5) and, with
// antialias, also close to Pillow's. Nearest and area ignore antialias, as tf does.
struct ResizeGeometry {
  int source_width = 0;
  int source_height = 0;
  int width = 0;
  int height = 0;
  Filter filter = Filter::kBilinear;
  bool antialias = false;
  Rect window;  // part of the scaled image that is wanted
  // Where in the source the scaled image lies when it does not start and end with a whole pixel;
  // all of it when the sizes are 0.
  struct Stretch {
    float x = 0, y = 0, width = 0, height = 0;
    bool operator==(const Stretch&) const = default;
  } stretch = {};
  bool flip_lr = false;  // mirror the window
  bool flip_ud = false;

  bool operator==(const ResizeGeometry&) const = default;
};

// The part of the source that the window's pixels depend on.
Rect source_of(const ResizeGeometry& geometry);

// How finished values are written: value * scale[c] + bias[c], tightly packed in `layout`.
// Integer types are rounded to nearest and clamped.
struct Output {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kHWC;
  std::array<float, 4> scale{1, 1, 1, 1};
  std::array<float, 4> bias{0, 0, 0, 0};
};

// Resizes while the source's rows arrive, so that a decoder's rows are used while still in cache.
// Keeps its weights and rows from image to image: one per thread.
//
//   resizer.start(geometry, DType::kUInt8, 3, output);
//   const Rect need = source_of(geometry);
//   for (int y = need.y; y < need.y + need.height; ++y) resizer.push(row y from need.x on);
class Resizer {
 public:
  Resizer();
  ~Resizer();
  Resizer(Resizer&&) noexcept;
  Resizer& operator=(Resizer&&) noexcept;

  // REQUIRES: 1 to 4 channels of uint8, uint16 or float32; window inside width x height.
  void start(const ResizeGeometry& geometry, DType dtype, int channels, const Output& output);
  // The next row of source_of(geometry), from its first column on.
  void push(const void* row);

  // start and push for an image at hand.
  void resize(const ImageView& source, const ResizeGeometry& geometry, const Output& output);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace headway
