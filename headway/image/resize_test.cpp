#include "headway/image/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headway/core/random.h"
#include "headway/image/taps.h"

namespace headway {
namespace {

constexpr Filter kFilters[] = {Filter::kNearest, Filter::kBilinear, Filter::kBicubic,
                               Filter::kArea};

std::vector<uint8_t> noise(size_t count) {
  Random random(5, 0, 0, 0);
  std::vector<uint8_t> values(count);
  for (auto& v : values) v = uint8_t(random.next_u32());
  return values;
}

// Straight from the taps, one value at a time.
double slow_value(const ImageView& source, const Taps& rows, const Taps& columns, int y, int x,
                  int c) {
  double sum = 0;
  for (int j = 0; j < rows.size; ++j) {
    for (int i = 0; i < columns.size; ++i) {
      const int sy = rows.origin + rows.start[y] + j, sx = columns.origin + columns.start[x] + i;
      const double weight = double(rows.weight(j)[y]) * columns.weight(i)[x];
      sum += weight * source.row(sy)[sx * source.channels + c];
    }
  }
  return sum;
}

struct Case {
  int source_width, source_height, width, height;
};
constexpr Case kCases[] = {{50, 40, 30, 20}, {45, 31, 90, 64}, {300, 9, 20, 9},  {2, 3, 11, 9},
                           {1, 1, 5, 4},     {64, 64, 64, 64}, {130, 70, 33, 71}};

ResizeGeometry geometry_of(const Case& c, Filter filter, bool antialias) {
  return {.source_width = c.source_width,
          .source_height = c.source_height,
          .width = c.width,
          .height = c.height,
          .filter = filter,
          .antialias = antialias,
          .window = {0, 0, c.width, c.height}};
}

void expect_resized(const Case& c, Filter filter, bool antialias, int channels) {
  const auto pixels = noise(size_t(c.source_width) * c.source_height * channels);
  const ImageView source =
      packed(pixels.data(), DType::kUInt8, c.source_height, c.source_width, channels);
  std::vector<float> out(size_t(c.width) * c.height * channels);
  Resizer resizer;
  resizer.resize(source, geometry_of(c, filter, antialias), {.data = out.data()});
  Taps rows, columns;
  make_taps({c.source_height, 0, float(c.source_height), c.height, filter, antialias, 0, c.height},
            rows);
  make_taps({c.source_width, 0, float(c.source_width), c.width, filter, antialias, 0, c.width},
            columns);
  size_t i = 0;
  for (int y = 0; y < c.height; ++y) {
    for (int x = 0; x < c.width; ++x) {
      for (int k = 0; k < channels; ++k) {
        ASSERT_NEAR(out[i++], slow_value(source, rows, columns, y, x, k), 2e-3)
            << name_of(filter) << antialias << " " << c.source_width << "->" << c.width << " at "
            << x << "," << y;
      }
    }
  }
}

TEST(Resize, IsTheSumOfItsTaps) {
  for (const Case& c : kCases) {
    for (Filter filter : kFilters) {
      for (int channels = 1; channels <= 4; ++channels) {
        expect_resized(c, filter, false, channels);
        expect_resized(c, filter, true, channels);
      }
    }
  }
}

TEST(Resize, WeightsSumToOne) {
  for (const Case& c : kCases) {
    for (Filter filter : kFilters) {
      for (bool antialias : {false, true}) {
        Taps taps;
        make_taps(
            {c.source_width, 0, float(c.source_width), c.width, filter, antialias, 0, c.width},
            taps);
        for (int x = 0; x < c.width; ++x) {
          double sum = 0;
          for (int k = 0; k < taps.size; ++k) sum += taps.weight(k)[x];
          EXPECT_NEAR(sum, 1, 1e-5) << name_of(filter) << " " << c.source_width << "->" << c.width;
        }
      }
    }
  }
}

// All of `g`'s scaled image, then the window out of it, flipped.
std::vector<float> cut_out(const ImageView& source, ResizeGeometry g) {
  const Rect window = g.window;
  const bool lr = g.flip_lr, ud = g.flip_ud;
  g.window = {0, 0, g.width, g.height};
  g.flip_lr = g.flip_ud = false;
  std::vector<float> whole(size_t(g.width) * g.height * 3), part;
  Resizer().resize(source, g, {.data = whole.data()});
  for (int y = 0; y < window.height; ++y) {
    for (int x = 0; x < window.width; ++x) {
      const int fy = window.y + (ud ? window.height - 1 - y : y),
                fx = window.x + (lr ? window.width - 1 - x : x);
      for (int c = 0; c < 3; ++c) part.push_back(whole[(size_t(fy) * g.width + fx) * 3 + c]);
    }
  }
  return part;
}

TEST(Resize, WindowAndFlipsAreCutOutOfTheWhole) {
  const auto pixels = noise(120 * 90 * 3);
  const ImageView source = packed(pixels.data(), DType::kUInt8, 90, 120, 3);
  Resizer resizer;
  Random random(2, 0, 0, 0);
  for (int round = 0; round < 100; ++round) {
    ResizeGeometry g =
        geometry_of({120, 90, 40 + int(random.below(100)), 30 + int(random.below(90))},
                    kFilters[random.below(4)], random.coin());
    g.flip_lr = random.coin();
    g.flip_ud = random.coin();
    const int w = 1 + int(random.below(uint64_t(g.width))),
              h = 1 + int(random.below(uint64_t(g.height)));
    g.window = {int(random.below(uint64_t(g.width - w + 1))),
                int(random.below(uint64_t(g.height - h + 1))), w, h};
    std::vector<float> out(size_t(w) * h * 3);
    resizer.resize(source, g, {.data = out.data()});
    const auto expected = cut_out(source, g);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 1e-3) << round;
  }
}

TEST(Resize, WritesScaledPlanesAndNothingElse) {
  const auto pixels = noise(50 * 40 * 3);
  const ImageView source = packed(pixels.data(), DType::kUInt8, 40, 50, 3);
  for (int width : {16, 17, 48}) {
    const ResizeGeometry g = geometry_of({50, 40, width, 21}, Filter::kBilinear, false);
    const size_t plane = size_t(width) * 21;
    std::vector<float> interleaved(plane * 3), planar(plane * 3 + 16, -77);
    Resizer resizer;
    resizer.resize(source, g, {.data = interleaved.data()});
    resizer.resize(source, g,
                   {.data = planar.data(),
                    .layout = Layout::kCHW,
                    .scale = {2, 3, 4, 1},
                    .bias = {1, 0, -5, 0}});
    for (size_t i = 0; i < plane; ++i) {
      EXPECT_NEAR(planar[i], interleaved[3 * i] * 2 + 1, 1e-3);
      EXPECT_NEAR(planar[plane + i], interleaved[3 * i + 1] * 3, 1e-3);
      EXPECT_NEAR(planar[2 * plane + i], interleaved[3 * i + 2] * 4 - 5, 1e-3);
    }
    for (size_t i = plane * 3; i < planar.size(); ++i) EXPECT_EQ(planar[i], -77);
  }
}

TEST(Resize, RoundsAndClampsIntegers) {
  const uint8_t pixels[] = {0, 255};
  uint8_t out[3] = {};
  Resizer().resize(packed(pixels, DType::kUInt8, 1, 2, 1),
                   geometry_of({2, 1, 3, 1}, Filter::kBilinear, false),
                   {.data = out, .dtype = DType::kUInt8, .scale = {1.2f, 1, 1, 1}});
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 153);
  EXPECT_EQ(out[2], 255);
}

TEST(Resize, TakesEveryPixelType) {
  for (DType dtype : {DType::kUInt8, DType::kUInt16, DType::kFloat32}) {
    std::vector<uint8_t> bytes(size_t(40 * 30 * 3 * size_of(dtype)));
    for (int i = 0; i < 40 * 30 * 3; ++i) {
      if (dtype == DType::kUInt8) bytes[i] = uint8_t(i % 200);
      else if (dtype == DType::kUInt16)
        reinterpret_cast<uint16_t*>(bytes.data())[i] = uint16_t(i % 200);
      else reinterpret_cast<float*>(bytes.data())[i] = float(i % 200);
    }
    std::vector<float> out(20 * 20 * 3);
    Resizer().resize(packed(bytes.data(), dtype, 30, 40, 3),
                     geometry_of({40, 30, 20, 20}, Filter::kBicubic, true), {.data = out.data()});
    static const std::vector<float> first = out;
    for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], first[i], 1e-3);
  }
}

}  // namespace
}  // namespace headway
