// Chapter 2 of the guide: a small network learns to tell shapes apart, and goes on where it was
// stopped.
#include <headway/train/train.h>

#include <cstdio>
#include <cstdlib>

using namespace headway;

Dataset images_of(const std::string& folder) {
  return image_folder(folder)
      .shuffle()
      .decode_image()
      .resize({.height = 32, .width = 32})
      .normalize({})
      .batch(32);
}

Model network(int64_t classes) {
  Model model = Sequential({
      Conv2D(16, 3, {.activation = "relu"}),
      BatchNormalization(),
      MaxPooling2D(2),
      Conv2D(32, 3, {.activation = "relu"}),
      BatchNormalization(),
      MaxPooling2D(2),
      Conv2D(64, 3, {.activation = "relu"}),
      BatchNormalization(),
      GlobalAveragePooling2D(),
      Dense(classes, {.activation = "softmax"}),
  });
  model.compile(
      {.optimizer = Adam(3e-3), .loss = SparseCategoricalCrossentropy(), .metrics = {Accuracy()}});
  return model;
}

int main(int argc, char** argv) {
  if (argc != 4) return std::puts("usage: first_training IMAGES CHECKPOINTS EPOCHS"), 2;
  try {
    const Dataset images = images_of(argv[1]);
    Model model = network(int64_t(class_names(argv[1]).size()));
    const History history = model.fit(images, {.epochs = std::atoi(argv[3]),
                                               .checkpoint = {.folder = argv[2], .resume = true},
                                               .show = Show::kNothing});
    for (size_t i = 3; i < history.epochs.size(); i += 4)
      std::printf("epoch %2zu: %s\n", i + 1, history.epochs[i].str().c_str());
    std::puts(history.time_table().c_str());
    return history.epochs.back()["loss"] < history.epochs.front()["loss"] ? 0 : 1;
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
