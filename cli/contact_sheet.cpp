#include "cli/contact_sheet.h"

#include <algorithm>
#include <cmath>

#include "cli/font.h"
#include "headway/image/resize.h"
#include "headway/io/images/png.h"

namespace headway::cli {
namespace {

constexpr int kCell = 200;  // a picture fits into a square of this
constexpr int kGap = 14;
constexpr int kTextScale = 2;
constexpr int kCaption = kGlyphHeight * kTextScale + 12;
constexpr uint8_t kGround[3] = {24, 26, 30};
constexpr uint8_t kInk[3] = {222, 222, 216};

class Sheet {
 public:
  Sheet(int width, int height)
      : width_(width), height_(height), pixels_(size_t{3} * width * height) {
    for (size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = kGround[i % 3];
  }

  void put(int x, int y, const uint8_t* rgb) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    std::copy_n(rgb, 3, &pixels_[(size_t{3} * y * width_) + size_t{3} * x]);
  }

  void write(const std::string& text, int x, int y) {
    for (const char letter : text) {
      const uint8_t* rows = glyph(letter);
      for (int gy = 0; gy < kGlyphHeight * kTextScale; ++gy) {
        for (int gx = 0; gx < kGlyphWidth * kTextScale; ++gx) {
          if (rows[gy / kTextScale] >> (kGlyphWidth - 1 - gx / kTextScale) & 1)
            put(x + gx, y + gy, kInk);
        }
      }
      x += kGlyphStep * kTextScale;
    }
  }

  std::vector<uint8_t> png() const {
    return encode_png(pixels_.data(), DType::kUInt8, height_, width_, 3, int64_t{3} * width_);
  }

 private:
  int width_, height_;
  std::vector<uint8_t> pixels_;
};

// Small pictures are enlarged by whole pixels, so that one sees what they are made of.
Tensor fitted(const Tensor& image, Resizer& resizer) {
  const int height = static_cast<int>(image.dim(0)), width = static_cast<int>(image.dim(1));
  const int channels = static_cast<int>(image.dim(2));
  const bool small = 2 * std::max(height, width) <= kCell;
  const double scale = small ? kCell / std::max(height, width)
                             : static_cast<double>(kCell) / std::max(height, width);
  const int to_height = std::max(1, static_cast<int>(std::lround(height * scale)));
  const int to_width = std::max(1, static_cast<int>(std::lround(width * scale)));
  Tensor out = Tensor::empty(DType::kUInt8, {to_height, to_width, channels});
  resizer.resize(packed(image.data(), image.dtype(), height, width, channels),
                 {.source_width = width,
                  .source_height = height,
                  .width = to_width,
                  .height = to_height,
                  .filter = small ? Filter::kNearest : Filter::kBilinear,
                  .antialias = true,
                  .window = {0, 0, to_width, to_height}},
                 {.data = out.data(), .dtype = DType::kUInt8});
  return out;
}

void place(Sheet& sheet, const Tensor& image, int left, int top, int cell_height) {
  const int height = static_cast<int>(image.dim(0)), width = static_cast<int>(image.dim(1));
  const auto channels = static_cast<int>(image.dim(2));
  const int x0 = left + (kCell - width) / 2, y0 = top + (cell_height - height) / 2;
  const uint8_t* pixel = image.values<uint8_t>().data();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x, pixel += channels) {
      const uint8_t gray[3] = {pixel[0], pixel[0], pixel[0]};
      sheet.put(x0 + x, y0 + y, channels >= 3 ? pixel : gray);
    }
  }
}

}  // namespace

std::vector<uint8_t> contact_sheet(const std::vector<Picture>& pictures) {
  const int count = static_cast<int>(pictures.size());
  Resizer resizer;
  std::vector<Tensor> images;
  int cell_height = 1;
  for (const Picture& picture : pictures) {
    images.push_back(fitted(picture.image, resizer));
    cell_height = std::max(cell_height, static_cast<int>(images.back().dim(0)));
  }
  // Wider than high, as screens are.
  const int columns =
      std::clamp(static_cast<int>(std::ceil(std::sqrt(1.5 * count))), 1, std::max(1, count));
  const int rows = (count + columns - 1) / columns;
  const int row_height = cell_height + kCaption + kGap;
  Sheet sheet(kGap + columns * (kCell + kGap), kGap + rows * row_height);
  for (int i = 0; i < count; ++i) {
    const int left = kGap + i % columns * (kCell + kGap), top = kGap + i / columns * row_height;
    place(sheet, images[i], left, top, cell_height);
    const std::string caption =
        pictures[i].caption.substr(0, (kCell + kTextScale) / (kGlyphStep * kTextScale));
    const int text_width = static_cast<int>(caption.size()) * kGlyphStep * kTextScale - kTextScale;
    sheet.write(caption, left + (kCell - text_width) / 2, top + cell_height + 6);
  }
  return sheet.png();
}

}  // namespace headway::cli
