// Feeds a folder of images, one folder per class, as a training loop wants them. Prints:
//
//   60 images of classes dark, light
//   batch 0: float32 16x3x32x32, labels int64 16
//   batch 1: float32 16x3x32x32, labels int64 16
//   batch 2: float32 16x3x32x32, labels int64 16
//   batch 3: float32 12x3x32x32, labels int64 12
//   30 of 60 are light
//   dark images average below light ones: yes
#include <headway/headway.h>
#include <headway/io/images/jpeg.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

using namespace headway;

// JPEGs of one grey level each, in folder/dark and folder/light.
void make_images(const std::string& folder) {
  for (int i = 0; i < 60; ++i) {
    const bool light = i % 2 == 1;
    const std::string place = folder + (light ? "/light" : "/dark");
    std::filesystem::create_directories(place);
    const std::vector<uint8_t> pixels(3 * 48 * 64, static_cast<uint8_t>((light ? 150 : 20) + i));
    const std::vector<uint8_t> jpeg = encode_jpeg(pixels.data(), 48, 64, 3, 3 * 64);
    std::ofstream(place + "/" + std::to_string(i) + ".jpg", std::ios::binary)
        .write(reinterpret_cast<const char*>(jpeg.data()),
               static_cast<std::streamsize>(jpeg.size()));
  }
}

int main() {
  char folder[] = "/tmp/headway-example-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  make_images(folder);

  const Dataset photos = image_folder(folder)
                             .shuffle()
                             .decode_image()
                             .random_resized_crop({.height = 32, .width = 32})
                             .random_flip()
                             .normalize(kImageNet)
                             .layout(Layout::kCHW)
                             .batch(16);

  const auto classes = class_names(folder);
  std::printf("%d images of classes %s, %s\n", 60, classes[0].c_str(), classes[1].c_str());

  int number = 0, light = 0;
  double sums[2] = {0, 0};
  for (const Batch& batch : photos) {
    const Tensor& images = batch["image"];
    const auto labels = batch["label"].values<int64_t>();
    std::printf("batch %d: %s %s, labels int64 %s\n", number++, name_of(images.dtype()).data(),
                images.shape().str().c_str(), batch["label"].shape().str().c_str());
    for (size_t i = 0; i < labels.size(); ++i) {
      const Tensor image = images.row(static_cast<int64_t>(i));
      const auto pixels = image.values<float>();
      light += static_cast<int>(labels[i]);
      sums[labels[i]] += std::accumulate(pixels.begin(), pixels.end(), 0.0);
    }
  }
  std::printf("%d of 60 are light\n", light);
  std::printf("dark images average below light ones: %s\n", sums[0] < sums[1] ? "yes" : "no");
  std::filesystem::remove_all(folder);
  return light == 30 && number == 4 && sums[0] < sums[1] ? 0 : 1;
}
