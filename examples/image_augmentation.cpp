// Augmentation as a part of the pipeline: PNG files are decoded, resized, flipped and brightened on
// workers while the model trains, and each sample's draw depends on the seed, the epoch and the
// sample alone. A brightness of 0.2 belongs behind the scaling to 0..1: ahead of it, it is a fifth
// of one of 256 levels, which nobody sees (seed examples 004-2 and 004-3). Prints:
//
//   brightness 0.2 ahead of scaling: moves a pixel by at most 1 level: yes
//   brightness 0.2 behind scaling:   moves pixels by more than 10 levels: yes
//   the same images with 1 thread and with 4: yes
//   other ones in the next epoch: yes
//   stripes told from rows, accuracy above 0.9: yes
#include <headway/io/bytes/temp_folder.h>
#include <headway/io/images/png.h>
#include <headway/train/train.h>

#include <cmath>
#include <cstdio>

using namespace headway;

constexpr int kImages = 96;
constexpr NormalizeStep kScale{.scale = 1.0f / 255};

// Vertical stripes (folder "stripes") and horizontal ones ("rows"), also when flipped.
void make_images(const TempFolder& folder) {
  for (int i = 0; i < kImages; ++i) {
    std::vector<uint8_t> pixels(3 * 64 * 64);
    for (int p = 0; p < 64 * 64; ++p) {
      const int place = i % 2 ? p / 64 : p % 64;
      const uint8_t level = (place + i) / 8 % 2 ? 200 : 60;
      std::fill_n(&pixels[3 * p], 3, level);
    }
    const auto png = encode_png(pixels.data(), DType::kUInt8, 64, 64, 3, 3 * 64, 1);
    const std::string name = (i % 2 ? "rows/" : "stripes/") + std::to_string(i) + ".png";
    folder.write(name, std::string(png.begin(), png.end()));
  }
}

Tensor first_batch(const Dataset& images, int threads, int64_t epoch = 0) {
  Pipeline pipeline =
      images.batch(kImages).with_options({.threads = threads}).start({.epoch = epoch});
  return (*pipeline.next())["image"];
}

// By how many of 256 levels two batches of 0..1 differ where they differ most.
float levels_apart(const Tensor& a, const Tensor& b) {
  float most = 0;
  for (int64_t i = 0; i < a.count(); ++i)
    most = std::max(most, std::fabs(a.values<float>()[i] - b.values<float>()[i]));
  return 255 * most;
}

int main() {
  const TempFolder folder;
  make_images(folder);
  const Dataset images =
      image_folder(folder.path()).decode_image().resize({.height = 32, .width = 32});
  bool all = true;
  const auto say = [&](const char* text, bool holds) {
    std::printf("%s: %s\n", text, holds ? "yes" : "no");
    all = all && holds;
  };

  const Tensor plain = first_batch(images.normalize(kScale), 1);
  const Tensor ahead = first_batch(images.random_brightness(0.2f).normalize(kScale), 1);
  const Tensor behind = first_batch(images.normalize(kScale).random_brightness(0.2f), 1);
  say("brightness 0.2 ahead of scaling: moves a pixel by at most 1 level",
      levels_apart(plain, ahead) <= 1);
  say("brightness 0.2 behind scaling:   moves pixels by more than 10 levels",
      levels_apart(plain, behind) > 10);

  const Dataset augmented = images.random_flip().normalize(kScale).random_brightness(0.2f);
  const Tensor once = first_batch(augmented, 1);
  say("the same images with 1 thread and with 4", once.same(first_batch(augmented, 4)));
  say("other ones in the next epoch", !once.same(first_batch(augmented, 4, 1)));

  Model model = Sequential({Conv2D(16, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(),
                            Dense(2, {.activation = "softmax"})});
  model.compile(
      {.optimizer = Adam(), .loss = SparseCategoricalCrossentropy(), .metrics = {Accuracy()}});
  const History history =
      model.fit(augmented.shuffle().batch(16), {.epochs = 8, .threads = {.intra_op = 1}});
  say("stripes told from rows, accuracy above 0.9", history.epochs.back()["accuracy"] > 0.9);
  return all ? 0 : 1;
}
