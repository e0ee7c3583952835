#include "headway/data/image_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"

namespace headway {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes picture(int height, int width, int channels) {
  Bytes pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        pixels.push_back(uint8_t(128 + 60 * std::sin(x * 0.2 + c) + 60 * std::cos(y * 0.13 - c)));
      }
    }
  }
  return pixels;
}

Bytes jpeg(int height, int width) {
  const Bytes pixels = picture(height, width, 3);
  return encode_jpeg(pixels.data(), height, width, 3, width * 3, {.quality = 92});
}

Bytes png(int height, int width, int channels = 3) {
  const Bytes pixels = picture(height, width, channels);
  return encode_png(pixels.data(), DType::kUInt8, height, width, channels, width * channels);
}

struct Result {
  DType dtype = DType::kUInt8;
  Shape shape;
  Bytes bytes;
  int placed = 0;

  void* operator()(DType d, const Shape& s) {
    dtype = d;
    shape = s;
    bytes.assign(size_t(s.count() * size_of(d)), 0xEE);
    ++placed;
    return bytes.data();
  }
  double at(int64_t i) const {
    if (dtype == DType::kUInt8) return bytes[size_t(i)];
    if (dtype == DType::kUInt16) return reinterpret_cast<const uint16_t*>(bytes.data())[i];
    return reinterpret_cast<const float*>(bytes.data())[i];
  }
};

Result run(const ImageChain& chain, const Bytes& file, uint64_t sample = 0) {
  static ImageScratch scratch;  // reused on purpose: nothing of one image may reach the next
  Result result;
  chain.run_encoded(file, {.file = "cat"}, Random(1, 2, sample, 3), scratch, result);
  return result;
}

Result run_stepwise(const ImageChain& chain, const Bytes& file, uint64_t sample = 0) {
  ImageScratch scratch;
  Result result;
  chain.run_encoded_stepwise(file, {.file = "cat"}, Random(1, 2, sample, 3), scratch, result);
  return result;
}

void expect_near(const Result& a, const Result& b, const std::string& what) {
  ASSERT_EQ(a.dtype, b.dtype) << what;
  ASSERT_EQ(a.shape, b.shape) << what;
  double low = 0, high = 1, worst = 0, total = 0;
  for (int64_t i = 0; i < a.shape.count(); ++i) {
    low = std::min(low, b.at(i)), high = std::max(high, b.at(i));
    worst = std::max(worst, std::abs(a.at(i) - b.at(i)));
    total += std::abs(a.at(i) - b.at(i));
  }
  // A float's last bit may move a truncated integer by one, and later steps may stretch that.
  const double unit = a.dtype == DType::kUInt8 ? 1 : a.dtype == DType::kUInt16 ? 257 : 0;
  EXPECT_LE(worst, 0.03 * (high - low) + 3 * unit) << what;
  EXPECT_LE(total / double(a.shape.count()), 0.0005 * (high - low) + 0.05 * unit) << what;
}

const std::vector<ImageStep> kT1 = {
    DecodeStep{}, ResizeShorterStep{.size = 64}, CenterCropStep{56, 56},
    NormalizeStep{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}}, LayoutStep{Layout::kCHW}};
const std::vector<ImageStep> kT2 = {DecodeStep{}, RandomResizedCropStep{.height = 48, .width = 40},
                                    FlipStep{}, NormalizeStep{}, LayoutStep{Layout::kCHW}};

TEST(ImageChain, CentreCropRecipeEqualsItsSteps) {
  const ImageChain chain(kT1);
  for (const auto& [h, w] : {std::pair{90, 130}, {200, 70}, {64, 64}, {30, 41}}) {
    expect_near(run(chain, jpeg(h, w)), run_stepwise(chain, jpeg(h, w)), chain.describe());
    expect_near(run(chain, png(h, w)), run_stepwise(chain, png(h, w)), chain.describe());
  }
}

TEST(ImageChain, RandomCropRecipeEqualsItsSteps) {
  const ImageChain chain(kT2);
  for (uint64_t sample = 0; sample < 40; ++sample) {
    expect_near(run(chain, jpeg(120, 161), sample), run_stepwise(chain, jpeg(120, 161), sample),
                chain.describe());
  }
}

ImageStep any_step(Random& random) {
  const auto side = [&] { return 8 + int(random.below(40)); };
  const auto filter = [&] { return Filter(random.below(4)); };
  const std::function<ImageStep()> makers[] = {
      [&] {
        return ResizeStep{side(), side(), filter(), random.coin()};
      },
      [&] {
        return ResizeShorterStep{side(), filter(), random.coin()};
      },
      [&] {
        return CenterCropStep{7, 8};
      },
      [&] {
        return RandomCropStep{8, 7};
      },
      [&] { return RandomResizedCropStep{.height = side(), .width = side(), .filter = filter()}; },
      [&] { return FlipStep{}; },
      [&] {
        return FlipStep{FlipAxis::kUpDown, 1};
      },
      [&] {
        return AffineStep{.rotation_degrees = {-20, 20},
                          .shift_x = {-0.1f, 0.1f},
                          .zoom_x = {0.9f, 1.1f},
                          .fill = FillMode(random.below(4))};
      },
      [&] {
        return BrightnessStep{{-0.1f, 0.1f}};
      },
      [&] {
        return ContrastStep{{0.8f, 1.2f}};
      },
      [&] { return ConvertStep{random.coin() ? DType::kFloat32 : DType::kUInt8}; },
      [&] {
        return NormalizeStep{{0.5f, 0.4f, 0.3f}, {0.2f, 0.3f, 0.4f}};
      },
      [&] { return StandardizeStep{}; },
      [&] { return LayoutStep{random.coin() ? Layout::kCHW : Layout::kHWC}; },
  };
  return makers[random.below(std::size(makers))]();
}

TEST(ImageChain, AnyChainEqualsItsSteps) {
  Random random(11, 0, 0, 0);
  for (int round = 0; round < 300; ++round) {
    std::vector<ImageStep> steps = {DecodeStep{.channels = random.coin() ? 3 : 1}};
    for (uint64_t i = 0; i < 1 + random.below(6); ++i) steps.push_back(any_step(random));
    const ImageChain chain(steps);
    const Bytes file = random.coin() ? jpeg(50, 70) : png(61, 45);
    Result fused, stepped;
    std::string fused_error, stepped_error;
    try {
      fused = run(chain, file, uint64_t(round));
    } catch (const Error& e) {
      fused_error = e.what();
    }
    try {
      stepped = run_stepwise(chain, file, uint64_t(round));
    } catch (const Error& e) {
      stepped_error = e.what();
    }
    ASSERT_EQ(fused_error, stepped_error) << chain.describe();
    if (!fused_error.empty()) continue;
    ASSERT_EQ(fused.placed, 1);
    expect_near(fused, stepped, chain.describe());
  }
}

TEST(ImageChain, ColourStepsWorkOnEveryType) {
  for (DType dtype : {DType::kUInt8, DType::kUInt16, DType::kFloat32}) {
    const ImageChain chain({DecodeStep{}, ConvertStep{dtype}, SaturationStep{{0.5f, 1.5f}},
                            HueStep{{-0.2f, 0.2f}}, GrayscaleStep{3},
                            BrightnessStep{{0.1f, 0.1f}}});
    expect_near(run(chain, jpeg(20, 30)), run_stepwise(chain, jpeg(20, 30)), chain.describe());
    EXPECT_EQ(run(chain, jpeg(20, 30)).dtype, dtype);
  }
}

TEST(ImageChain, TypeAndShapeAreTheLastSteps) {
  const Result result = run(ImageChain(kT1), jpeg(90, 130));
  EXPECT_EQ(result.dtype, DType::kFloat32);
  EXPECT_EQ(result.shape, (Shape{3, 56, 56}));
}

TEST(ImageChain, SameSampleSameDraws) {
  const ImageChain chain(kT2);
  EXPECT_EQ(run(chain, jpeg(60, 80), 5).bytes, run(chain, jpeg(60, 80), 5).bytes);
  EXPECT_NE(run(chain, jpeg(60, 80), 5).bytes, run(chain, jpeg(60, 80), 6).bytes);
}

TEST(ImageChain, RunsOverPixelsWithoutDecoding) {
  const Bytes pixels = picture(30, 40, 3);
  const ImageChain chain({FlipStep{FlipAxis::kLeftRight, 1}, CropStep{{5, 6, 10, 9}}});
  ImageScratch scratch;
  Result result;
  chain.run_pixels(packed(pixels.data(), DType::kUInt8, 30, 40, 3), Random(0, 0, 0, 0), scratch,
                   result);
  EXPECT_EQ(result.shape, (Shape{9, 10, 3}));
  EXPECT_EQ(result.bytes[0], pixels[(6 * 40 + 34) * 3]);
}

TEST(ImageChain, LeavesTheCallersPixelsAlone) {
  const Bytes pixels = picture(8, 8, 3);
  Bytes copy = pixels;
  ImageScratch scratch;
  Result result;
  ImageChain({BrightnessStep{{0.3f, 0.3f}}})
      .run_pixels(packed(copy.data(), DType::kUInt8, 8, 8, 3), Random(0, 0, 0, 0), scratch, result);
  EXPECT_EQ(copy, pixels);
  EXPECT_NE(result.bytes, pixels);
}

double psnr(const Result& a, const Result& b) {
  double squares = 0;
  for (int64_t i = 0; i < a.shape.count(); ++i) squares += std::pow(a.at(i) - b.at(i), 2);
  return 10 * std::log10(255.0 * 255.0 / (squares / double(a.shape.count()) + 1e-12));
}

TEST(ImageChain, FastScalesInsideTheDecoderAndStaysClose) {
  const auto chain = [](DecodeMode mode) {
    return ImageChain({DecodeStep{.mode = mode}, CropStep{{13, 7, 301, 230}},
                       ResizeStep{.height = 50, .width = 60}});
  };
  const Bytes file = jpeg(300, 400);
  EXPECT_GT(psnr(run(chain(DecodeMode::kFast), file), run(chain(DecodeMode::kExact), file)), 30);
}

TEST(ImageChain, CropLargerThanTheImageSaysSo) {
  try {
    run(ImageChain({DecodeStep{}, CenterCropStep{224, 224}}), jpeg(100, 90));
    FAIL();
  } catch (const SampleError& e) {
    EXPECT_EQ(e.problem(), "cat: center_crop: 224x224 out of an image of 100x90");
    EXPECT_EQ(e.hint(), "resize before cropping");
  }
}

TEST(ImageChain, RefusesChainsThatCannotWork) {
  EXPECT_THROW(ImageChain({FlipStep{}, DecodeStep{}}), Error);
  EXPECT_THROW(ImageChain({ResizeStep{0, 5}}), Error);
  EXPECT_THROW(ImageChain({HueStep{{-2, 0}}}), Error);
  EXPECT_THROW(ImageChain({ConvertStep{DType::kString}}), Error);
}

TEST(ImageChain, DescribesItself) {
  EXPECT_EQ(ImageChain(kT2).describe(),
            "decode(3) > random_resized_crop(48x40,scale=0.08..1,ratio=0.75..1.33333,bilinear) > "
            "flip(lr,0.5) > "
            "normalize(scale=0.00392157,mean=0/0/0,deviation=1/1/1) > layout(chw)");
}

}  // namespace
}  // namespace headway
