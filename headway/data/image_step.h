#pragma once

#include <array>
#include <string>
#include <variant>

#include "headway/core/random.h"
#include "headway/core/tensor.h"
#include "headway/image/choices.h"
#include "headway/image/view.h"
#include "headway/io/images/decode_mode.h"

namespace headway {

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

inline constexpr int kMaxSide = 1 << 20;  // of an image, in pixels

std::string describe_step(const ImageStep& step);  // "resize(224x224,bilinear)"
void check_step(const ImageStep& step);            // throws what is wrong with its settings

}  // namespace headway
