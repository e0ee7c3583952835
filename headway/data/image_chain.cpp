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

// ---- what each image step does to an image: one function per alternative of ImageStep ----

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

void run(std::span<const ImageStep> steps, LazyImage& image, Random random,
         const ResultMemory& memory, bool stepwise) {
  // Each step has its own numbers, so that one step's settings do not move another's draws.
  const uint64_t key = random.next_u64();
  uint32_t index = 0;
  for (const ImageStep& step : steps) {
    std::visit(Apply{image, Random(key, 0, 0, index++)}, step);
    if (stepwise) image.settle();
  }
  const Layout layout = layout_of(steps);
  image.make_pixels(
      memory(image.dtype(), shape_of(layout, image.height(), image.width(), image.channels())),
      layout);
}

void start(LazyImage& image, std::span<const uint8_t> bytes, const DecodeStep& step) {
  image.start_encoded(bytes, {.channels = step.channels, .mode = step.mode},
                      {.channels = step.channels, .dtype = step.dtype}, step.exif);
}

}  // namespace

ImageChain::ImageChain(std::vector<ImageStep> steps) : steps_(std::move(steps)) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (i > 0 && std::holds_alternative<DecodeStep>(steps_[i])) {
      throw Error(
          "decode_image comes after another operation on the image, which needs its pixels "
          "already",
          "move .decode_image() in front of all other image operations, such as .resize()");
    }
    check_step(steps_[i]);
  }
}

bool ImageChain::decodes() const {
  return !steps_.empty() && std::holds_alternative<DecodeStep>(steps_[0]);
}

std::string ImageChain::describe() const {
  std::string text;
  for (const ImageStep& step : steps_) {
    if (!text.empty()) text += " > ";
    text += describe_step(step);
  }
  return text;
}

void ImageChain::run_encoded(std::span<const uint8_t> bytes, const Origin& origin, Random random,
                             ImageScratch& scratch, const ResultMemory& memory,
                             PixelRoom* room) const {
  LazyImage image(scratch.impl(), origin, room);
  start(image, bytes, decodes() ? std::get<DecodeStep>(steps_[0]) : DecodeStep{});
  run(steps_, image, random, memory, false);
}

void ImageChain::run_pixels(const ImageView& pixels, Random random, ImageScratch& scratch,
                            const ResultMemory& memory, PixelRoom* room) const {
  const Origin nowhere;
  LazyImage image(scratch.impl(), nowhere, room);
  image.start_pixels(pixels);
  run(steps_, image, random, memory, false);
}

void ImageChain::run_encoded_stepwise(std::span<const uint8_t> bytes, const Origin& origin,
                                      Random random, ImageScratch& scratch,
                                      const ResultMemory& memory, size_t count) const {
  LazyImage image(scratch.impl(), origin, nullptr);
  start(image, bytes, decodes() ? std::get<DecodeStep>(steps_[0]) : DecodeStep{});
  run(std::span(steps_).first(std::min(count, steps_.size())), image, random, memory, true);
}

}  // namespace headway
