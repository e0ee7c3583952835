#include "cli/draw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headway/core/random.h"

namespace headway::cli {
namespace {

constexpr float kPi = 3.14159265f;

struct Color {
  float r = 0, g = 0, b = 0;
};
Color mix(const Color& a, const Color& b, float share) {
  return {a.r + (b.r - a.r) * share, a.g + (b.g - a.g) * share, a.b + (b.b - a.b) * share};
}
float distance(const Color& a, const Color& b) {
  return std::abs(a.r - b.r) + std::abs(a.g - b.g) + std::abs(a.b - b.b);
}
Color any_color(Random& random) {
  return {random.uniform(20, 235), random.uniform(20, 235), random.uniform(20, 235)};
}
Color color_unlike(const Color& other, Random& random) {
  constexpr float kFarEnough = 180;
  Color color = any_color(random);
  while (distance(color, other) < kFarEnough) color = any_color(random);
  return color;
}

struct Canvas {
  int width, height;
  std::vector<Color>& pixels;

  Color* row(int y) { return pixels.data() + int64_t{y} * width; }
  float short_side() const { return static_cast<float>(std::min(width, height)); }
};

// Random values on a grid, smoothly joined.
class Clouds {
 public:
  Clouds(int cells, float amplitude, Random& random)
      : cells_(cells), values_((cells + 2) * (cells + 2)) {
    for (float& value : values_) value = random.uniform(-amplitude, amplitude);
  }
  float at(float x, float y) const {  // both in [0, 1)
    const float gx = x * cells_, gy = y * cells_;
    const int ix = static_cast<int>(gx), iy = static_cast<int>(gy);
    const float fx = ease(gx - ix), fy = ease(gy - iy);
    const float* top = &values_[iy * (cells_ + 2) + ix];
    const float* bottom = top + cells_ + 2;
    const float a = top[0] + (top[1] - top[0]) * fx, b = bottom[0] + (bottom[1] - bottom[0]) * fx;
    return a + (b - a) * fy;
  }

 private:
  static float ease(float t) { return t * t * (3 - 2 * t); }
  int cells_;
  std::vector<float> values_;
};

void draw_background(Canvas canvas, const Color& color, Random& random) {
  constexpr float kDrift = 45;
  const Color far = {color.r + random.uniform(-kDrift, kDrift),
                     color.g + random.uniform(-kDrift, kDrift),
                     color.b + random.uniform(-kDrift, kDrift)};
  const float angle = random.uniform(0, 2 * kPi), dx = std::cos(angle), dy = std::sin(angle);
  const Clouds broad(5, 18, random), fine(23, 12, random);
  for (int y = 0; y < canvas.height; ++y) {
    Color* row = canvas.row(y);
    const float v = static_cast<float>(y) / static_cast<float>(canvas.height);
    for (int x = 0; x < canvas.width; ++x) {
      const float u = static_cast<float>(x) / static_cast<float>(canvas.width);
      const Color base = mix(color, far, 0.5f + 0.5f * ((u - 0.5f) * dx + (v - 0.5f) * dy));
      const float cloud = broad.at(u, v) + fine.at(u, v);
      row[x] = {base.r + cloud, base.g + cloud, base.b + cloud};
    }
  }
}

struct Place {
  float x, y, size;  // centre and half the extent, in pixels
  float angle;
};

// Calls paint(u, v, pixel) for each pixel around `place`; u and v are turned and in units of its
// size.
template <typename Paint>
void around(Canvas canvas, const Place& place, Paint paint) {
  const float reach = place.size * 1.45f;
  const int left = std::max(0, static_cast<int>(place.x - reach));
  const int right = std::min(canvas.width, static_cast<int>(place.x + reach) + 1);
  const int top = std::max(0, static_cast<int>(place.y - reach));
  const int bottom = std::min(canvas.height, static_cast<int>(place.y + reach) + 1);
  const float cosine = std::cos(place.angle) / place.size,
              sine = std::sin(place.angle) / place.size;
  for (int y = top; y < bottom; ++y) {
    Color* row = canvas.row(y);
    const float dy = static_cast<float>(y) - place.y;
    for (int x = left; x < right; ++x) {
      const float dx = static_cast<float>(x) - place.x;
      paint(dx * cosine + dy * sine, dy * cosine - dx * sine, row[x]);
    }
  }
}

float box(float u, float v, float half_width, float half_height) {
  return std::max(std::abs(u) - half_width, std::abs(v) - half_height);
}

float triangle(float u, float v) {
  const float slanted = 0.8660254f * std::abs(u) - 0.5f * v;
  return std::max(slanted, v) - 0.5f;
}

// Folded into half a point: one straight edge from the tip to the notch.
float star(float u, float v) {
  constexpr float kPoint = 2 * kPi / 5, kTip = 1, kNotch = 0.42f;
  const float radius = std::hypot(u, v);
  const float angle = std::abs(std::remainder(std::atan2(v, u), kPoint));
  const float x = radius * std::cos(angle), y = radius * std::sin(angle);
  const float nx = kNotch * std::cos(kPoint / 2), ny = kNotch * std::sin(kPoint / 2);
  const float ex = nx - kTip, ey = ny, length = std::hypot(ex, ey);
  return ((x - kTip) * ey - y * ex) / length;
}

// How far outside of the figure (u, v) lies, in units of its size; negative inside. `round` chooses
// between the outlines that a texture may have.
float outside(std::string_view figure, float u, float v, bool round) {
  if (figure == "circle") return std::hypot(u, v) - 0.85f;
  if (figure == "square") return box(u, v, 0.75f, 0.75f);
  if (figure == "triangle") return triangle(u, v);
  if (figure == "cross") return std::min(box(u, v, 0.9f, 0.28f), box(u, v, 0.28f, 0.9f));
  if (figure == "ring") return std::abs(std::hypot(u, v) - 0.68f) - 0.2f;
  if (figure == "star") return star(u, v);
  return round ? std::hypot(u, v) - 0.9f : box(u, v, 0.8f, 0.8f);
}

// Share of the second colour at (u, v); `edge` is the width of a pixel.
float texture(std::string_view figure, float u, float v, float cells, float edge) {
  const auto wave = [&](float t) {
    return std::clamp(std::sin(t * cells * kPi) / (edge * cells * kPi) + 0.5f, 0.0f, 1.0f);
  };
  if (figure == "stripes") return wave(u);
  if (figure == "checkerboard") {
    const float a = wave(u), b = wave(v);
    return a + b - 2 * a * b;
  }
  if (figure == "dots") {
    const float x = std::remainder(u * cells / 2, 1.0f), y = std::remainder(v * cells / 2, 1.0f);
    return std::clamp((0.3f - std::hypot(x, y)) / (edge * cells / 2) + 0.5f, 0.0f, 1.0f);
  }
  if (figure == "gradient") return std::clamp(0.5f + 0.62f * u, 0.0f, 1.0f);
  return 0;
}

void draw_clutter(Canvas canvas, Random& random) {
  for (uint64_t left = 3 + random.below(5); left > 0; --left) {
    const Place place{random.uniform() * static_cast<float>(canvas.width),
                      random.uniform() * static_cast<float>(canvas.height),
                      canvas.short_side() * random.uniform(0.03f, 0.14f),
                      random.uniform(0, 2 * kPi)};
    const Color color = any_color(random);
    const float thin = random.uniform(0.12f, 0.9f), opacity = random.uniform(0.3f, 0.8f);
    around(canvas, place, [&](float u, float v, Color& pixel) {
      const float inside = 0.5f - (std::hypot(u, v / thin) - 0.9f) * place.size * thin;
      pixel = mix(pixel, color, opacity * std::clamp(inside, 0.0f, 1.0f));
    });
  }
}

void draw_one(Canvas canvas, std::string_view figure, const Color& background, Random& random) {
  const float size = canvas.short_side() * random.uniform(0.22f, 0.42f);
  const auto within = [&](int extent) {
    const float margin = size * 0.8f;
    return random.uniform(margin, static_cast<float>(extent) - margin);
  };
  Place place{within(canvas.width), within(canvas.height), size, random.uniform(0, 2 * kPi)};
  const Color first = color_unlike(background, random), second = color_unlike(first, random);
  const bool round = random.coin();
  const float cells = random.uniform(2.6f, 5.5f), shade = random.uniform(-14, 14);
  around(canvas, place, [&](float u, float v, Color& pixel) {
    const float inside = std::clamp(0.5f - outside(figure, u, v, round) * size, 0.0f, 1.0f);
    if (inside <= 0) return;
    Color color = mix(first, second, texture(figure, u, v, cells, 1 / size));
    color = {color.r + shade * v, color.g + shade * v, color.b + shade * v};
    pixel = mix(pixel, color, inside);
  });
}

uint8_t to_byte(float value) {
  return static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
}

// One word of randomness per pixel: mostly the same shift for all channels, as in a photograph.
void develop(const std::vector<Color>& pixels, float grain, Random& random, uint8_t* out) {
  const auto centred = [](uint32_t bits) { return static_cast<float>(bits & 0x3ff) / 511.5f - 1; };
  for (const Color& pixel : pixels) {
    const uint32_t word = random.next_u32();
    const float luma = 1.4f * grain * centred(word), red = 0.5f * grain * centred(word >> 10);
    const float blue = 0.5f * grain * centred(word >> 20);
    *out++ = to_byte(pixel.r + luma + red);
    *out++ = to_byte(pixel.g + luma);
    *out++ = to_byte(pixel.b + luma + blue);
  }
}

}  // namespace

void draw_figure(const Drawing& drawing, size_t figure, int64_t number, uint8_t* pixels) {
  thread_local std::vector<Color> colors;
  colors.resize(int64_t{drawing.width} * drawing.height);
  Canvas canvas{drawing.width, drawing.height, colors};
  Random random(drawing.seed, 0, static_cast<uint64_t>(number), 0);
  const Color background = any_color(random);
  draw_background(canvas, background, random);
  draw_clutter(canvas, random);
  draw_one(canvas, kFigures[figure], background, random);
  develop(colors, drawing.grain, random, pixels);
}

}  // namespace headway::cli
