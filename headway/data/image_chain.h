#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headway/core/error.h"
#include "headway/core/random.h"
#include "headway/core/tensor.h"
#include "headway/data/image_step.h"
#include "headway/image/view.h"

namespace headway {

class PixelRoom;

// A borrowed callable `void* (DType, const Shape&)`: gives the memory for a result. Costs nothing
// to make and to copy; must not outlive what it was made from.
class ResultMemory {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, ResultMemory>)
      ResultMemory(F&& memory)  // NOLINT: implicit by design
      : context_(const_cast<void*>(static_cast<const void*>(std::addressof(memory)))),
        call_([](void* context, DType dtype, const Shape& shape) -> void* {
          return (*static_cast<std::remove_reference_t<F>*>(context))(dtype, shape);
        }) {}

  void* operator()(DType dtype, const Shape& shape) const { return call_(context_, dtype, shape); }

 private:
  void* context_;
  void* (*call_)(void*, DType, const Shape&);
};

// Decoder handles and buffers that a chain reuses from image to image: one per thread.
class ImageScratch {
 public:
  ImageScratch();
  ~ImageScratch();
  ImageScratch(ImageScratch&&) noexcept;
  ImageScratch& operator=(ImageScratch&&) noexcept;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Steps over one image, executed with as few passes over the pixels as they allow: only the needed
// region is decoded, a resize followed by a crop computes only the crop, and flips, conversion,
// normalisation and layout happen while the last pass writes into the caller's memory.
// The result is the same as that of one step after another (to float rounding).
//
//   const ImageChain chain({DecodeStep{}, ResizeShorterStep{.size = 256},
//                           CenterCropStep{.height = 224, .width = 224}, NormalizeStep{...},
//                           LayoutStep{Layout::kCHW}});
//   chain.run_encoded(bytes, {.file = path}, Random(seed, epoch, sample, op), scratch,
//                     [&](DType, const Shape&) { return slot; });
//
// Immutable; any number of threads may run it at once, each with its own scratch. A bad image
// throws SampleError, a chain that cannot work throws Error from the constructor.
class ImageChain {
 public:
  explicit ImageChain(std::vector<ImageStep> steps);

  const std::vector<ImageStep>& steps() const { return steps_; }
  bool decodes() const;          // starts with DecodeStep: use run_encoded
  std::string describe() const;  // "decode(3,exact) > resize_shorter(256,bilinear) > ..."

  // `room`, where there is one, is asked before memory for pixels is taken, but for the result's.
  // `memory` is called exactly once, after the input has proved readable as far as its header says;
  // pixels are written to it in the chain's layout, tightly packed.
  void run_encoded(std::span<const uint8_t> bytes, const Origin& origin, Random random,
                   ImageScratch& scratch, const ResultMemory& memory,
                   PixelRoom* room = nullptr) const;
  // REQUIRES: !decodes()
  void run_pixels(const ImageView& pixels, Random random, ImageScratch& scratch,
                  const ResultMemory& memory, PixelRoom* room = nullptr) const;

  // The same, but each step makes a whole image for the next: slow, for tests and for `inspect`,
  // which looks at the image after the first `count` steps.
  void run_encoded_stepwise(std::span<const uint8_t> bytes, const Origin& origin, Random random,
                            ImageScratch& scratch, const ResultMemory& memory,
                            size_t count = SIZE_MAX) const;

 private:
  std::vector<ImageStep> steps_;
};

}  // namespace headway
