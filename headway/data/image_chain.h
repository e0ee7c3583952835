#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "headway/core/error.h"
#include "headway/core/random.h"
#include "headway/core/tensor.h"
#include "headway/image/affine.h"
#include "headway/image/resize.h"
#include "headway/image/view.h"
#include "headway/io/images/jpeg.h"

namespace headway {

class PixelRoom;

// A number drawn uniformly from [low, high]; the same bounds mean that number and no draw.
struct Range {
  float low = 0;
  float high = 0;

  float draw(Random& random) const { return low == high ? low : random.uniform(low, high); }
  bool operator==(const Range&) const = default;
};

// What an image can go through, one struct per word. Pixel values follow tf.image: decoding gives
// uint8, resizing (but nearest) gives float32 in the same 0..255, conversion to float32 divides by
// 255 only when it starts from an integer type.

struct DecodeStep {
  int channels = 3;  // 0: as many as the file has; 1 and 3 for every format, 2 and 4 for PNG
  DecodeMode mode = DecodeMode::kExact;
  bool exif = false;            // turn upright as the EXIF orientation says; tf.io does not
  DType dtype = DType::kUInt8;  // kUInt16: PNG only
};
struct ResizeStep {
  int height = 0;
  int width = 0;
  Filter filter = Filter::kBilinear;
  bool antialias = false;
};
struct ResizeShorterStep {  // the other side keeps the aspect ratio, rounded down
  int size = 0;
  Filter filter = Filter::kBilinear;
  bool antialias = false;
};
struct CenterCropStep {
  int height = 0;
  int width = 0;
};
struct CropStep {
  Rect rect;
};
struct RandomCropStep {
  int height = 0;
  int width = 0;
};
struct RandomResizedCropStep {
  int height = 0;
  int width = 0;
  Range scale{0.08f, 1.0f};         // share of the source's area
  Range ratio{3.0f / 4, 4.0f / 3};  // width over height, log-uniform
  Filter filter = Filter::kBilinear;
  bool antialias = false;
};
enum class FlipAxis { kLeftRight, kUpDown };
struct FlipStep {
  FlipAxis axis = FlipAxis::kLeftRight;
  float probability = 0.5f;  // 1: always
};
struct AffineStep {  // keras ImageDataGenerator's rotation, shift, shear and zoom in one pass
  Range rotation_degrees = {};
  Range shift_x = {};  // in widths
  Range shift_y = {};  // in heights
  Range shear_degrees = {};
  Range zoom_x{1, 1};
  Range zoom_y{1, 1};
  FillMode fill = FillMode::kNearest;
  float fill_value = 0;
};
struct BrightnessStep {
  Range delta = {};
};
struct ContrastStep {
  Range factor{1, 1};
};
struct SaturationStep {
  Range factor{1, 1};
};
struct HueStep {
  Range delta = {};  // within [-1, 1]
};
struct GrayscaleStep {
  int channels = 1;  // 3: the gray value three times
};
struct ConvertStep {  // tf.image.convert_image_dtype, clamped
  DType dtype = DType::kFloat32;
};
struct NormalizeStep {  // (value * scale - mean) / deviation, float32
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> deviation{1, 1, 1};
  float scale = 1.0f / 255;
};
struct StandardizeStep {};  // tf.image.per_image_standardization
struct LayoutStep {         // of the result; where in the chain it stands does not matter
  Layout layout = Layout::kHWC;
};

using ImageStep = std::variant<DecodeStep, ResizeStep, ResizeShorterStep, CenterCropStep, CropStep,
                               RandomCropStep, RandomResizedCropStep, FlipStep, AffineStep,
                               BrightnessStep, ContrastStep, SaturationStep, HueStep, GrayscaleStep,
                               ConvertStep, NormalizeStep, StandardizeStep, LayoutStep>;

// A borrowed callable `void* (DType, const Shape&)`: gives the memory for a result. Costs nothing
// to make and to copy; must not outlive what it was made from.
class Place {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Place>)
      Place(F&& place)  // NOLINT: implicit by design
      : context_(const_cast<void*>(static_cast<const void*>(std::addressof(place)))),
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
  bool random() const;           // draws random numbers
  std::string describe() const;  // "decode(3,exact) > resize_shorter(256,bilinear) > ..."

  // dtype and shape of the result where they do not depend on the input.
  std::optional<std::pair<DType, Shape>> fixed_output() const;

  // `room`, where there is one, is asked before memory for pixels is taken, but for the result's.
  // `place` is called exactly once, after the input has proved readable as far as its header says;
  // pixels are written to it in the chain's layout, tightly packed.
  void run_encoded(std::span<const uint8_t> bytes, const Origin& origin, Random random,
                   ImageScratch& scratch, const Place& place, PixelRoom* room = nullptr) const;
  // REQUIRES: !decodes()
  void run_pixels(const ImageView& pixels, Random random, ImageScratch& scratch, const Place& place,
                  PixelRoom* room = nullptr) const;

  // The same, but each step makes a whole image for the next: slow, for tests and for `inspect`,
  // which looks at the image after the first `count` steps.
  void run_encoded_stepwise(std::span<const uint8_t> bytes, const Origin& origin, Random random,
                            ImageScratch& scratch, const Place& place,
                            size_t count = SIZE_MAX) const;

 private:
  std::vector<ImageStep> steps_;
};

}  // namespace headway
