// A training loop of one's own: he_normal weights, binary cross-entropy, gradients clipped by value
// (seed example 002-3). Clipping bounds how far a weight moves in a step of SGD, whatever the data;
// Adam divides by the gradient's own size, and moves about as far with clipping as without.
// Prints:
//
//   largest move in one step on inputs a thousand times too large, learning rate 0.001
//     SGD, not clipped:            above 0.1: yes
//     SGD, clipped to -1 .. 1:     0.0010
//     Adam, not clipped:           0.0010
//     Adam, clipped to -1 .. 1:    0.0010
//   Adam, clipped, on sound inputs: loss has fallen after 5 epochs: yes
#include <headway/train/torch.h>

#include <cstdio>

using namespace headway;

Model network() {
  Model model = Sequential(
      {Input({10}), Dense(10, {.activation = "relu", .kernel_initializer = "he_normal"}), Dense(1)},
      {.device = "cpu"});
  model.build({10});
  return model;
}

// Points in ten dimensions, and on which side of a plane they lie.
Dataset points(int64_t count, float scale) {
  return range(count).random_map([=](Element, Random& random) {
    Tensor x = Tensor::empty(DType::kFloat32, {10});
    float side = 0;
    for (float& v : x.values<float>()) side += v = random.normal();
    for (float& v : x.values<float>()) v *= scale;
    Element e;
    e.set("x", x);
    e.set("y", Tensor::vector({side > 0 ? 1.0f : 0.0f}));
    return e;
  });
}

History train(Model& model, const Dataset& data, const Optimizer& optimizer, int64_t epochs) {
  // The sigmoid is in the loss: behind it, as a layer, the gradient of a far-off guess is 0.
  const auto loss = [&](Batch& batch) {
    const torch::Tensor guess = call(model, to_torch(batch["x"]));
    return torch::binary_cross_entropy_with_logits(guess, to_torch(batch["y"]));
  };
  return loop(data.batch(32), loss,
              {.optimizer = optimizer,
               .model = &model,
               .fit = {.epochs = epochs, .threads = {.intra_op = 1}, .show = Show::kNothing}});
}

// How far the first step moves the weight that it moves most.
double largest_move(const Optimizer& optimizer) {
  Model model = network();
  const torch::Tensor before = to_torch(model.weight("dense.weight"));
  train(model, points(32, 1000), optimizer, 1);
  return (to_torch(model.weight("dense.weight")) - before).abs().max().item<double>();
}

int main() {
  const Clipping clip{.by_value = 1};
  const double loose = largest_move(SGD({.learning_rate = 0.001}));
  const double clipped = largest_move(SGD({.learning_rate = 0.001, .clip = clip}));
  const double adam = largest_move(Adam({.learning_rate = 0.001}));
  const double adam_clipped = largest_move(Adam({.learning_rate = 0.001, .clip = clip}));
  std::printf(
      "largest move in one step on inputs a thousand times too large, learning rate 0.001\n"
      "  SGD, not clipped:            above 0.1: %s\n"
      "  SGD, clipped to -1 .. 1:     %.4f\n"
      "  Adam, not clipped:           %.4f\n"
      "  Adam, clipped to -1 .. 1:    %.4f\n",
      loose > 0.1 ? "yes" : "no", clipped, adam, adam_clipped);

  Model model = network();
  const History history =
      train(model, points(1000, 1), Adam({.learning_rate = 0.001, .clip = clip}), 5);
  const bool fell = history.epochs[4]["loss"] < history.epochs[0]["loss"];
  std::printf("Adam, clipped, on sound inputs: loss has fallen after 5 epochs: %s\n",
              fell ? "yes" : "no");
  const double most = 0.001 * (1 + 1e-3);
  return loose > 0.1 && clipped <= most && adam <= most && adam_clipped <= most && fell ? 0 : 1;
}
