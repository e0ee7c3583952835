// VGG16 from scratch. How much memory it takes at batch 128 is known before anything is allocated;
// a dataset without labels is refused with what is missing; with labels it trains, here on small
// images so that a CPU is enough (seed example 002-2). Prints:
//
//   224x224, 1000 classes
//     Total params: 138,357,544 (553 MB)
//     Memory: weights 553 MB, gradients 553 MB, optimizer 1.1 GB (adam, learning rate 0.001),
//             activations 9.3 GB at batch 128
//   without labels: the batch has no label: its only field is 'image'
//   32x32, 2 classes: 2 steps of 8 images, the loss is a number: yes
#include <headway/train/train.h>

#include <cmath>
#include <cstdio>
#include <sstream>

using namespace headway;

Model vgg16(int64_t side, int64_t classes) {
  Model model =
      applications::vgg16({.classes = classes, .input = {side, side, 3}}, {.device = "cpu"});
  model.compile({.optimizer = Adam(), .loss = CategoricalCrossentropy()});
  return model;
}

// Noise around one of two gray levels; the label is one-hot.
Dataset images(bool with_labels) {
  return range(16).random_map([=](Element e, Random& random) {
    const int64_t label = e.only().item<int64_t>() % 2;
    Element out;
    Tensor image = Tensor::empty(DType::kFloat32, {32, 32, 3});
    for (float& v : image.values<float>()) v = 0.5f * float(label) + 0.5f * random.uniform();
    out.set("image", image);
    if (with_labels) out.set("label", Tensor::vector({label == 0 ? 1.0f : 0.0f, float(label)}));
    return out;
  });
}

int main() {
  const Model full = vgg16(224, 1000);
  std::printf("224x224, 1000 classes\n");
  std::istringstream summary(full.summary({.batch_size = 128}));
  for (std::string line; std::getline(summary, line);)
    if (line.find("Total") == 0 || line.find("Memory") == 0) std::printf("  %s\n", line.c_str());

  Model small = vgg16(32, 2);
  const FitOptions options{.threads = {.intra_op = 1}};
  std::string problem;
  try {
    small.fit(images(false).batch(8), options);
  } catch (const Error& e) {
    problem = e.problem();
  }
  std::printf("without labels: %s\n", problem.c_str());

  const History history = small.fit(images(true).batch(8), options);
  const bool finite = std::isfinite(history.epochs.back()["loss"]);
  std::printf("32x32, 2 classes: %ld steps of 8 images, the loss is a number: %s\n",
              long(history.steps), finite ? "yes" : "no");
  std::fprintf(stderr, "%s", history.time_table().c_str());
  return full.parameter_count() == 138'357'544 && !full.built() &&
                 problem.find("no label") != std::string::npos && history.steps == 2 && finite
             ? 0
             : 1;
}
