#include "headway/image/color.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headway/image/affine.h"
#include "headway/image/normalize.h"
#include "headway/image/orient.h"

namespace headway {
namespace {

std::vector<float> ramp(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(float(i % 17) / 16);
  return values;
}

TEST(Color, BrightnessOfBytesTruncatesAndClampsAsTf) {
  uint8_t pixels[] = {0, 100, 250};
  adjust_brightness(packed(pixels, DType::kUInt8, 1, 3, 1), 0.1f);
  EXPECT_EQ(pixels[0], 25);   // 0.1 * 255.5
  EXPECT_EQ(pixels[1], 125);  // (100 / 255 + 0.1) * 255.5
  EXPECT_EQ(pixels[2], 255);
}

TEST(Color, ContrastKeepsEachChannelsMean) {
  auto values = ramp(12 * 3);
  double before = 0, after = 0;
  for (int i = 0; i < 12; ++i) before += values[3 * i + 1];
  adjust_contrast(packed(values.data(), DType::kFloat32, 3, 4, 3), 3);
  for (int i = 0; i < 12; ++i) after += values[3 * i + 1];
  EXPECT_NEAR(before, after, 1e-4);
}

TEST(Color, HueAllTheWayRoundChangesNothing) {
  const auto original = ramp(30 * 3);
  for (float delta : {0.0f, 1.0f, -1.0f}) {
    auto values = original;
    adjust_hue(packed(values.data(), DType::kFloat32, 5, 6, 3), delta);
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], original[i], 1e-5);
  }
}

TEST(Color, ThirdOfAHueTurnMovesRedToGreen) {
  float red[] = {1, 0, 0};
  adjust_hue(packed(red, DType::kFloat32, 1, 1, 3), 1.0f / 3);
  EXPECT_NEAR(red[0], 0, 1e-5);
  EXPECT_NEAR(red[1], 1, 1e-5);
}

TEST(Color, NoSaturationIsGray) {
  float pixel[] = {0.2f, 0.7f, 0.4f};
  adjust_saturation(packed(pixel, DType::kFloat32, 1, 1, 3), 0);
  for (float v : pixel) EXPECT_NEAR(v, 0.7f, 1e-6);
}

TEST(Normalize, StandardizedImageHasMeanZeroAndDeviationOne) {
  auto values = ramp(60);
  standardize(packed(values.data(), DType::kFloat32, 4, 5, 3));
  double sum = 0, squares = 0;
  for (float v : values) sum += v, squares += v * v;
  EXPECT_NEAR(sum / 60, 0, 1e-6);
  EXPECT_NEAR(squares / 60, 1, 1e-5);
}

TEST(Normalize, OneColourStandardizesToZero) {
  std::vector<float> values(12, 0.5f);
  standardize(packed(values.data(), DType::kFloat32, 2, 2, 3));
  for (float v : values) EXPECT_EQ(v, 0);
}

TEST(Normalize, ConversionGoesThereAndBack) {
  uint8_t bytes[256], back[256];
  float units[256];
  for (int i = 0; i < 256; ++i) bytes[i] = uint8_t(i);
  convert(packed(bytes, DType::kUInt8, 16, 16, 1), packed(units, DType::kFloat32, 16, 16, 1));
  convert(packed(units, DType::kFloat32, 16, 16, 1), packed(back, DType::kUInt8, 16, 16, 1));
  for (int i = 0; i < 256; ++i) EXPECT_EQ(back[i], i);
  EXPECT_FLOAT_EQ(units[51], 0.2f);
}

TEST(Affine, NothingAskedChangesNothing) {
  auto values = ramp(7 * 5 * 3);
  std::vector<float> out(values.size());
  affine(packed(values.data(), DType::kFloat32, 7, 5, 3), affine_matrix({}, 7, 5),
         FillMode::kConstant, 0, packed(out.data(), DType::kFloat32, 7, 5, 3));
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(out[i], values[i], 1e-5);
}

TEST(Affine, QuarterTurnMovesTheCorners) {
  const float values[] = {1, 2, 3, 4};
  float out[4];
  affine(packed(values, DType::kFloat32, 2, 2, 1), affine_matrix({.rotation_degrees = 90}, 2, 2),
         FillMode::kNearest, 0, packed(out, DType::kFloat32, 2, 2, 1));
  EXPECT_NEAR(out[0], 3, 1e-4);
  EXPECT_NEAR(out[1], 1, 1e-4);
  EXPECT_NEAR(out[2], 4, 1e-4);
  EXPECT_NEAR(out[3], 2, 1e-4);
}

std::vector<float> shifted(FillMode fill, double columns) {
  const float values[] = {1, 2, 3, 4};
  std::vector<float> out(4);
  affine(packed(values, DType::kFloat32, 1, 4, 1), affine_matrix({.shift_columns = columns}, 1, 4),
         fill, 9, packed(out.data(), DType::kFloat32, 1, 4, 1));
  return out;
}

TEST(Affine, FillsAsScipyDoes) {
  EXPECT_EQ(shifted(FillMode::kNearest, 2), (std::vector<float>{3, 4, 4, 4}));
  EXPECT_EQ(shifted(FillMode::kConstant, 2), (std::vector<float>{3, 4, 9, 9}));
  EXPECT_EQ(shifted(FillMode::kReflect, 2), (std::vector<float>{3, 4, 4, 3}));
  EXPECT_EQ(shifted(FillMode::kReflect, -2), (std::vector<float>{2, 1, 1, 2}));
  EXPECT_EQ(shifted(FillMode::kWrap, 2), (std::vector<float>{3, 1, 2, 3}));
}

TEST(Orient, EveryOrientationOfSixPixels) {
  const uint8_t stored[] = {1, 2, 3, 4, 5, 6};  // 2 rows of 3
  const std::vector<std::vector<uint8_t>> upright = {
      {1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
      {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    std::vector<uint8_t> out(6);
    const bool sideways = turns_sideways(orientation);
    orient(packed(stored, DType::kUInt8, 2, 3, 1), orientation,
           packed(out.data(), DType::kUInt8, sideways ? 3 : 2, sideways ? 2 : 3, 1));
    EXPECT_EQ(out, upright[orientation - 1]) << orientation;
  }
}

}  // namespace
}  // namespace headway
