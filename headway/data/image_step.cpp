#include "headway/data/image_step.h"

#include <fmt/format.h>

#include "headway/core/error.h"
#include "headway/data/overloaded.h"

namespace headway {
namespace {

std::string text_of(const char* name, const Range& range) {
  if (range.low == range.high) return fmt::format("{}={:g}", name, range.low);
  return fmt::format("{}={:g}..{:g}", name, range.low, range.high);
}

std::string text_of(Filter filter, bool antialias) {
  return fmt::format("{}{}", name_of(filter), antialias ? ",antialias" : "");
}

void check_size(const char* word, int height, int width) {
  if (height > 0 && width > 0 && height <= kMaxSide && width <= kMaxSide) return;
  throw Error(fmt::format("{}: invalid image size {}x{}", word, height, width),
              "give height x width, each from 1 to 1048576 pixels");
}

void check_range(const char* word, const Range& range, float low, float high) {
  if (range.low >= low && range.low <= range.high && range.high <= high) return;
  throw Error(fmt::format(
      "{}: invalid range {:g} to {:g}; it must lie within {:g} to {:g}, the lower number first",
      word, range.low, range.high, low, high));
}

bool is_pixel_type(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kFloat32;
}

}  // namespace

std::string describe_step(const ImageStep& step) {
  return std::visit(
      Overloaded{
          [](const DecodeStep& s) {
            return fmt::format("decode({}{}{}{})", s.channels,
                               s.mode == DecodeMode::kFast ? ",fast" : "", s.exif ? ",exif" : "",
                               s.dtype == DType::kUInt8 ? "" : ",uint16");
          },
          [](const ResizeStep& s) {
            return fmt::format("resize({}x{},{})", s.height, s.width,
                               text_of(s.filter, s.antialias));
          },
          [](const ResizeShorterStep& s) {
            return fmt::format("resize_shorter({},{})", s.size, text_of(s.filter, s.antialias));
          },
          [](const CenterCropStep& s) {
            return fmt::format("center_crop({}x{})", s.height, s.width);
          },
          [](const CropStep& s) {
            return fmt::format("crop({}x{} at x {}, y {})", s.rect.height, s.rect.width, s.rect.x,
                               s.rect.y);
          },
          [](const RandomCropStep& s) {
            return fmt::format("random_crop({}x{})", s.height, s.width);
          },
          [](const RandomResizedCropStep& s) {
            return fmt::format("random_resized_crop({}x{},{},{},{})", s.height, s.width,
                               text_of("scale", s.scale), text_of("ratio", s.ratio),
                               text_of(s.filter, s.antialias));
          },
          [](const FlipStep& s) {
            return fmt::format("flip({},{:g})", s.axis == FlipAxis::kLeftRight ? "lr" : "ud",
                               s.probability);
          },
          [](const AffineStep& s) {
            return fmt::format("affine({},{},{},{},{},{},{},{:g})",
                               text_of("rotation", s.rotation_degrees),
                               text_of("shift_x", s.shift_x), text_of("shift_y", s.shift_y),
                               text_of("shear", s.shear_degrees), text_of("zoom_x", s.zoom_x),
                               text_of("zoom_y", s.zoom_y), name_of(s.fill), s.fill_value);
          },
          [](const BrightnessStep& s) { return "brightness(" + text_of("delta", s.delta) + ")"; },
          [](const ContrastStep& s) { return "contrast(" + text_of("factor", s.factor) + ")"; },
          [](const SaturationStep& s) { return "saturation(" + text_of("factor", s.factor) + ")"; },
          [](const HueStep& s) { return "hue(" + text_of("delta", s.delta) + ")"; },
          [](const GrayscaleStep& s) { return fmt::format("grayscale({})", s.channels); },
          [](const ConvertStep& s) { return fmt::format("convert({})", name_of(s.dtype)); },
          [](const NormalizeStep& s) {
            return fmt::format("normalize(scale={:g},mean={:g}/{:g}/{:g},deviation={:g}/{:g}/{:g})",
                               s.scale, s.mean[0], s.mean[1], s.mean[2], s.deviation[0],
                               s.deviation[1], s.deviation[2]);
          },
          [](const StandardizeStep&) { return std::string("standardize"); },
          [](const LayoutStep& s) {
            return fmt::format("layout({})", s.layout == Layout::kHWC ? "hwc" : "chw");
          },
      },
      step);
}

void check_step(const ImageStep& step) {
  constexpr float kAny = 1e9f;
  std::visit(
      Overloaded{
          [](const DecodeStep& s) {
            if (s.channels < 0 || s.channels > 4) {
              throw Error(
                  fmt::format("decode: invalid number of channels {}; it must be 1 to 4, or 0 to "
                              "keep those of the file",
                              s.channels));
            }
            if (s.dtype != DType::kUInt8 && s.dtype != DType::kUInt16) {
              throw Error("decode: images can only be decoded to uint8 or uint16",
                          "decode to uint8 or uint16, then convert the result");
            }
          },
          [](const ResizeStep& s) { check_size("resize", s.height, s.width); },
          [](const ResizeShorterStep& s) { check_size("resize_shorter", s.size, s.size); },
          [](const CenterCropStep& s) { check_size("center_crop", s.height, s.width); },
          [](const CropStep& s) {
            check_size("crop", s.rect.height, s.rect.width);
            check_size("crop", s.rect.y + 1, s.rect.x + 1);
          },
          [](const RandomCropStep& s) { check_size("random_crop", s.height, s.width); },
          [](const RandomResizedCropStep& s) {
            check_size("random_resized_crop", s.height, s.width);
            check_range("random_resized_crop: scale", s.scale, 1e-6f, 1);
            check_range("random_resized_crop: ratio", s.ratio, 1e-3f, 1e3f);
          },
          [](const FlipStep& s) {
            check_range("flip: probability", {s.probability, 1}, 0, 1);
          },
          [](const AffineStep& s) {
            for (const Range& range : {s.rotation_degrees, s.shift_x, s.shift_y, s.shear_degrees}) {
              check_range("affine", range, -kAny, kAny);
            }
            check_range("affine: zoom", s.zoom_x, 1e-3f, 1e3f);
            check_range("affine: zoom", s.zoom_y, 1e-3f, 1e3f);
          },
          [](const BrightnessStep& s) { check_range("brightness", s.delta, -kAny, kAny); },
          [](const ContrastStep& s) { check_range("contrast", s.factor, -kAny, kAny); },
          [](const SaturationStep& s) { check_range("saturation", s.factor, 0, kAny); },
          [](const HueStep& s) { check_range("hue", s.delta, -1, 1); },
          [](const GrayscaleStep& s) {
            if (s.channels != 1 && s.channels != 3) {
              throw Error(fmt::format("grayscale: invalid number of channels {}; it must be 1 or 3",
                                      s.channels));
            }
          },
          [](const ConvertStep& s) {
            if (is_pixel_type(s.dtype)) return;
            throw Error(fmt::format("convert: pixels cannot be converted to {}", name_of(s.dtype)),
                        "use uint8, uint16 or float32");
          },
          [](const NormalizeStep& s) {
            for (size_t i = 0; i < s.deviation.size(); ++i) {
              if (s.deviation[i] > 0) continue;
              throw Error(fmt::format("normalize: the standard deviation of channel {} (counted "
                                      "from 0) is {:g}, but must be greater than 0",
                                      i, s.deviation[i]),
                          "give a number above 0 for each channel; 1 leaves values as they are");
            }
          },
          [](const StandardizeStep&) {},
          [](const LayoutStep&) {},
      },
      step);
}

}  // namespace headway
