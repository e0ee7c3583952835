#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headway::cli {

// What can be drawn: six figures and four textures, each a class.
inline constexpr std::array<std::string_view, 10> kFigures = {
    "circle", "square", "triangle", "stripes", "checkerboard",
    "cross",  "ring",   "gradient", "dots",    "star"};

struct Drawing {
  int width = 320;
  int height = 240;
  uint64_t seed = 0;
  float grain = 12;  // noise of the pixels, in grey levels; without it JPEG files would be tiny
};

// Draws one of kFigures, in colours, place, size and angle that depend on (seed, number) alone,
// over a cloudy background with clutter. Meant for a small convolutional net; not yet tried on one.
// `pixels` has room for height x width x 3 bytes. Safe from any thread.
void draw_figure(const Drawing& drawing, size_t figure, int64_t number, uint8_t* pixels);

}  // namespace headway::cli
