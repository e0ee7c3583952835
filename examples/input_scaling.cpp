// Pixels of 0..255 in a network that expects 0..1: converting to float32 divides by 255 only when
// it begins with integers, and resizing has made floats already. Scale first, or scale in so many
// words (seed example 002-1). Prints:
//
//   resize, convert_image_dtype:  0 .. 250  not scaled
//   convert_image_dtype, resize:  0 .. 0.98  scaled
//   resize, normalize by 1/255:   0 .. 0.98  scaled
//   the two cures agree to 1e-5: yes
#include <headway/headway.h>
#include <headway/io/bytes/temp_folder.h>
#include <headway/io/images/jpeg.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace headway;

// Gray bars of 0, 50 ... 250.
std::vector<std::string> make_photos(const TempFolder& folder) {
  std::vector<uint8_t> pixels(3 * 96 * 96);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<uint8_t>(50 * (i % (3 * 96) / (3 * 16)));
  const auto jpeg = encode_jpeg(pixels.data(), 96, 96, 3, 3 * 96);
  const std::string bytes(jpeg.begin(), jpeg.end());
  return {folder.write("image1.jpg", bytes), folder.write("image2.jpg", bytes)};
}

Tensor first_batch(const Dataset& images) { return (*images.batch(2).start().next())["image"]; }

// Prints the range of the values; true when they lie within 0..1.
bool scaled(const char* name, const Tensor& images) {
  const auto values = images.values<float>();
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const bool within = *low >= 0 && *high <= 1;
  std::printf("%-29s %.2g .. %.3g  %s\n", name, std::fabs(*low), *high,
              within ? "scaled" : "not scaled");
  return within;
}

int main() {
  const TempFolder folder;
  const Dataset photos = files(make_photos(folder)).decode_image();
  const ResizeStep size{.height = 48, .width = 48};

  const Tensor wrong = first_batch(photos.resize(size).convert_image_dtype(DType::kFloat32));
  const Tensor first = first_batch(photos.convert_image_dtype(DType::kFloat32).resize(size));
  const Tensor told = first_batch(photos.resize(size).normalize({.scale = 1.0f / 255}));

  const bool wrong_scaled = scaled("resize, convert_image_dtype:", wrong);
  const bool first_scaled = scaled("convert_image_dtype, resize:", first);
  const bool told_scaled = scaled("resize, normalize by 1/255:", told);
  bool agree = true;
  for (int64_t i = 0; i < told.count(); ++i)
    agree = agree && std::fabs(first.values<float>()[i] - told.values<float>()[i]) < 1e-5f;
  std::printf("the two cures agree to 1e-5: %s\n", agree ? "yes" : "no");
  return !wrong_scaled && first_scaled && told_scaled && agree ? 0 : 1;
}
