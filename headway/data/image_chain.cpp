#include "headway/data/image_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headway/data/lazy_image.h"
#include "headway/image/color.h"

namespace headway {

struct ImageScratch::Impl : ImageTools {};

ImageScratch::ImageScratch() : impl_(std::make_unique<Impl>()) {}
ImageScratch::~ImageScratch() = default;
ImageScratch::ImageScratch(ImageScratch&&) noexcept = default;
ImageScratch& ImageScratch::operator=(ImageScratch&&) noexcept = default;

namespace {

constexpr int kCropAttempts = 10;
constexpr int kMaxSide = 1 << 20;

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce it for aggregates

// ---- what each step does to an image ----

struct Apply {
  LazyImage& image;
  Random random;

  [[noreturn]] void fail(const std::string& reason, const std::string& hint) const {
    throw SampleError(image.origin(), reason, hint);
  }

  void need_rgb(const char* word) const {
    if (image.channels() == 3) return;
    fail(fmt::format("{}: the image has {} channels, 3 are needed", word, image.channels()),
         "decode with channels = 3");
  }

  void need_size(const char* word, int height, int width) const {
    if (image.height() >= height && image.width() >= width) return;
    fail(fmt::format("{}: {}x{} out of an image of {}x{}", word, height, width, image.height(),
                     image.width()),
         "resize before cropping");
  }

  void operator()(const DecodeStep&) const {}
  void operator()(const LayoutStep&) const {}

  void operator()(const ResizeStep& s) const {
    image.resize(s.height, s.width, s.filter, s.antialias);
  }

  void operator()(const ResizeShorterStep& s) const {
    const int shorter = std::min(image.height(), image.width());
    const auto scaled = [&](int side) {
      return int(std::min<int64_t>(int64_t{side} * s.size / shorter, kMaxSide));
    };
    image.resize(scaled(image.height()), scaled(image.width()), s.filter, s.antialias);
  }

  void operator()(const CenterCropStep& s) const {
    need_size("center_crop", s.height, s.width);
    image.crop({(image.width() - s.width) / 2, (image.height() - s.height) / 2, s.width, s.height});
  }

  void operator()(const CropStep& s) const {
    need_size("crop", s.rect.y + s.rect.height, s.rect.x + s.rect.width);
    image.crop(s.rect);
  }

  void operator()(const RandomCropStep& s) {
    need_size("random_crop", s.height, s.width);
    const int y = int(random.below(uint64_t(image.height() - s.height + 1)));
    const int x = int(random.below(uint64_t(image.width() - s.width + 1)));
    image.crop({x, y, s.width, s.height});
  }

  void operator()(const RandomResizedCropStep& s) {
    image.crop(draw_crop(s));
    image.resize(s.height, s.width, s.filter, s.antialias);
  }

  // torchvision's draw: ten tries, then as much of the middle as the ratio allows.
  Rect draw_crop(const RandomResizedCropStep& s) {
    const int width = image.width(), height = image.height();
    const double area = double(width) * height;
    const float low = std::log(s.ratio.low), high = std::log(s.ratio.high);
    for (int attempt = 0; attempt < kCropAttempts; ++attempt) {
      const double part = area * random.uniform(s.scale.low, s.scale.high);
      const double ratio = std::exp(double(random.uniform(low, high)));
      const auto w = int(std::lround(std::sqrt(part * ratio)));
      const auto h = int(std::lround(std::sqrt(part / ratio)));
      if (w < 1 || h < 1 || w > width || h > height) continue;
      const int y = int(random.below(uint64_t(height - h + 1)));
      const int x = int(random.below(uint64_t(width - w + 1)));
      return {x, y, w, h};
    }
    const double ratio = double(width) / height;
    const double wanted = std::clamp(ratio, double(s.ratio.low), double(s.ratio.high));
    const int w = std::max(1, ratio > wanted ? int(std::lround(height * wanted)) : width);
    const int h = std::max(1, ratio < wanted ? int(std::lround(width / wanted)) : height);
    return {(width - w) / 2, (height - h) / 2, w, h};
  }

  void operator()(const FlipStep& s) {
    if (s.probability < 1 && !random.coin(s.probability)) return;
    if (s.axis == FlipAxis::kLeftRight) image.flip_lr();
    else image.flip_ud();
  }

  void operator()(const AffineStep& s) {
    AffineSettings settings;
    settings.rotation_degrees = s.rotation_degrees.draw(random);
    settings.shift_rows = s.shift_y.draw(random) * float(image.height());
    settings.shift_columns = s.shift_x.draw(random) * float(image.width());
    settings.shear_degrees = s.shear_degrees.draw(random);
    settings.zoom_rows = s.zoom_y.draw(random);
    settings.zoom_columns = s.zoom_x.draw(random);
    image.affine(affine_matrix(settings, image.height(), image.width()), s.fill, s.fill_value);
  }

  void operator()(const BrightnessStep& s) {
    adjust_brightness(image.pixels(), s.delta.draw(random));
  }
  void operator()(const ContrastStep& s) { adjust_contrast(image.pixels(), s.factor.draw(random)); }
  void operator()(const SaturationStep& s) {
    need_rgb("saturation");
    adjust_saturation(image.pixels(), s.factor.draw(random));
  }
  void operator()(const HueStep& s) {
    need_rgb("hue");
    adjust_hue(image.pixels(), s.delta.draw(random));
  }
  void operator()(const GrayscaleStep& s) const {
    need_rgb("grayscale");
    image.grayscale(s.channels);
  }

  void operator()(const ConvertStep& s) const { image.convert(s.dtype); }

  void operator()(const NormalizeStep& s) const {
    if (image.channels() != 1 && image.channels() != 3) need_rgb("normalize");
    std::array<float, 3> scale, bias;
    for (int c = 0; c < 3; ++c) {
      scale[c] = s.scale / s.deviation[c];
      bias[c] = -s.mean[c] / s.deviation[c];
    }
    image.scale_bias(scale, bias);
  }

  void operator()(const StandardizeStep&) const { image.standardize(); }
};

Layout layout_of(std::span<const ImageStep> steps) {
  Layout layout = Layout::kHWC;
  for (const ImageStep& step : steps) {
    if (const auto* s = std::get_if<LayoutStep>(&step)) layout = s->layout;
  }
  return layout;
}

Shape shape_of(Layout layout, int64_t height, int64_t width, int64_t channels) {
  return layout == Layout::kHWC ? Shape{height, width, channels} : Shape{channels, height, width};
}

void run(std::span<const ImageStep> steps, LazyImage& image, Random random, const Place& place,
         bool stepwise) {
  // Each step has its own numbers, so that one step's settings do not move another's draws.
  const uint64_t key = random.next_u64();
  uint32_t index = 0;
  for (const ImageStep& step : steps) {
    std::visit(Apply{image, Random(key, 0, 0, index++)}, step);
    if (stepwise) image.settle();
  }
  const Layout layout = layout_of(steps);
  image.finish(
      place(image.dtype(), shape_of(layout, image.height(), image.width(), image.channels())),
      layout);
}

void start(LazyImage& image, std::span<const uint8_t> bytes, const DecodeStep& step) {
  image.start_encoded(bytes, {.channels = step.channels, .mode = step.mode},
                      {.channels = step.channels, .dtype = step.dtype}, step.exif);
}

// ---- words ----

std::string text_of(const char* name, const Range& range) {
  if (range.low == range.high) return fmt::format("{}={:g}", name, range.low);
  return fmt::format("{}={:g}..{:g}", name, range.low, range.high);
}

std::string text_of(Filter filter, bool antialias) {
  return fmt::format("{}{}", name_of(filter), antialias ? ",antialias" : "");
}

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

// ---- checks ----

void check_size(const char* word, int height, int width) {
  if (height > 0 && width > 0 && height <= kMaxSide && width <= kMaxSide) return;
  throw Error(fmt::format("{}: {}x{} is no size for an image", word, height, width),
              "sizes are height x width, from 1 to 1048576");
}

void check_range(const char* word, const Range& range, float low, float high) {
  if (range.low >= low && range.low <= range.high && range.high <= high) return;
  throw Error(fmt::format("{}: {:g}..{:g} is not a range within {:g}..{:g}", word, range.low,
                          range.high, low, high));
}

bool is_pixel_type(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kFloat32;
}

void check_step(const ImageStep& step) {
  constexpr float kAny = 1e9f;
  std::visit(
      Overloaded{
          [](const DecodeStep& s) {
            if (s.channels < 0 || s.channels > 4) {
              throw Error(fmt::format("decode: {} channels; 0 to 4 are possible", s.channels));
            }
            if (s.dtype != DType::kUInt8 && s.dtype != DType::kUInt16) {
              throw Error("decode: images decode to uint8 or uint16", "convert afterwards");
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
              throw Error(fmt::format("grayscale: {} channels; 1 or 3", s.channels));
            }
          },
          [](const ConvertStep& s) {
            if (is_pixel_type(s.dtype)) return;
            throw Error(fmt::format("convert: {} is no type for pixels", name_of(s.dtype)),
                        "uint8, uint16 or float32");
          },
          [](const NormalizeStep& s) {
            for (float d : s.deviation) {
              if (!(d > 0)) throw Error("normalize: a deviation must be above 0");
            }
          },
          [](const StandardizeStep&) {},
          [](const LayoutStep&) {},
      },
      step);
}

// dtype and size as far as they are known without an image; 0 and nullopt where not.
struct Known {
  std::optional<DType> dtype;
  int height = 0;
  int width = 0;
  int channels = 0;

  void resized(int h, int w, Filter filter) {
    height = h;
    width = w;
    if (filter != Filter::kNearest) dtype = DType::kFloat32;
  }

  void after(const ImageStep& step) {
    std::visit(Overloaded{
                   [&](const DecodeStep& s) { dtype = s.dtype, channels = s.channels; },
                   [&](const ResizeStep& s) { resized(s.height, s.width, s.filter); },
                   [&](const ResizeShorterStep& s) { resized(0, 0, s.filter); },
                   [&](const CenterCropStep& s) { height = s.height, width = s.width; },
                   [&](const CropStep& s) { height = s.rect.height, width = s.rect.width; },
                   [&](const RandomCropStep& s) { height = s.height, width = s.width; },
                   [&](const RandomResizedCropStep& s) { resized(s.height, s.width, s.filter); },
                   [&](const GrayscaleStep& s) { channels = s.channels; },
                   [&](const ConvertStep& s) { dtype = s.dtype; },
                   [&](const NormalizeStep&) { dtype = DType::kFloat32; },
                   [&](const StandardizeStep&) { dtype = DType::kFloat32; },
                   [](const auto&) {},
               },
               step);
  }
};

}  // namespace

ImageChain::ImageChain(std::vector<ImageStep> steps) : steps_(std::move(steps)) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (i > 0 && std::holds_alternative<DecodeStep>(steps_[i])) {
      throw Error("decode stands behind another image step", "decode first");
    }
    check_step(steps_[i]);
  }
}

bool ImageChain::decodes() const {
  return !steps_.empty() && std::holds_alternative<DecodeStep>(steps_[0]);
}

bool ImageChain::random() const {
  const auto drawn = [](const Range& range) { return range.low != range.high; };
  const auto draws = Overloaded{
      [](const RandomCropStep&) { return true; },
      [](const RandomResizedCropStep&) { return true; },
      [](const FlipStep& s) { return s.probability < 1; },
      [&](const AffineStep& s) {
        return drawn(s.rotation_degrees) || drawn(s.shift_x) || drawn(s.shift_y) ||
               drawn(s.shear_degrees) || drawn(s.zoom_x) || drawn(s.zoom_y);
      },
      [&](const BrightnessStep& s) { return drawn(s.delta); },
      [&](const ContrastStep& s) { return drawn(s.factor); },
      [&](const SaturationStep& s) { return drawn(s.factor); },
      [&](const HueStep& s) { return drawn(s.delta); },
      [](const auto&) { return false; },
  };
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const ImageStep& step) { return std::visit(draws, step); });
}

std::string ImageChain::describe() const {
  std::string text;
  for (const ImageStep& step : steps_) {
    if (!text.empty()) text += " > ";
    text += describe_step(step);
  }
  return text;
}

std::optional<std::pair<DType, Shape>> ImageChain::fixed_output() const {
  Known known;
  for (const ImageStep& step : steps_) known.after(step);
  if (!known.dtype || !known.height || !known.width || !known.channels) return std::nullopt;
  return std::pair(*known.dtype,
                   shape_of(layout_of(steps_), known.height, known.width, known.channels));
}

void ImageChain::run_encoded(std::span<const uint8_t> bytes, const Origin& origin, Random random,
                             ImageScratch& scratch, const Place& place) const {
  LazyImage image(scratch.impl(), origin);
  start(image, bytes, decodes() ? std::get<DecodeStep>(steps_[0]) : DecodeStep{});
  run(steps_, image, random, place, false);
}

void ImageChain::run_pixels(const ImageView& pixels, Random random, ImageScratch& scratch,
                            const Place& place) const {
  const Origin nowhere;
  LazyImage image(scratch.impl(), nowhere);
  image.start_pixels(pixels);
  run(steps_, image, random, place, false);
}

void ImageChain::run_encoded_stepwise(std::span<const uint8_t> bytes, const Origin& origin,
                                      Random random, ImageScratch& scratch, const Place& place,
                                      size_t count) const {
  LazyImage image(scratch.impl(), origin);
  start(image, bytes, decodes() ? std::get<DecodeStep>(steps_[0]) : DecodeStep{});
  run(std::span(steps_).first(std::min(count, steps_.size())), image, random, place, true);
}

}  // namespace headway
