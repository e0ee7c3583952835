// Arrays in memory as a dataset: nothing is copied, and a map that was written behind prefetch runs
// on the workers all the same, because Headway plans the pipeline itself. The model of that example
// ends without softmax under a loss that expects probabilities: refused, with the remedy (seed
// example 001-1). Prints:
//
//   row 7 is the array's own memory: yes
//   written: from_tensor_slices > shuffle > batch > prefetch > map
//   planned: from_tensor_slices > shuffle > batch > map
//   refused: sparse_categorical_crossentropy expects probabilities, but the model ends without an
//            activation; remedy: end the model in .activation = "softmax", or give the loss
//            {.from_logits = true}
//   loss has fallen after 3 epochs: yes
#include <headway/train/train.h>

#include <cstdio>
#include <sstream>

using namespace headway;

constexpr int64_t kSamples = 1000;

// The operators of that part of explain(), without their numbers.
std::string chain(const std::string& text, const std::string& begin, const std::string& end) {
  std::istringstream lines(text.substr(text.find(begin), text.find(end) - text.find(begin)));
  std::string names, line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    if (line.find("seed") == 0) continue;
    names += (names.empty() ? "" : " > ") + line.substr(0, line.find('('));
  }
  return names;
}

int main() {
  Random random(1, 0, 0, 0);
  Tensor images = Tensor::empty(DType::kFloat64, {kSamples, 28, 28, 3});
  Tensor labels = Tensor::empty(DType::kInt64, {kSamples});
  for (int64_t i = 0; i < kSamples; ++i) {
    labels.values<int64_t>()[i] = i % 10;
    Tensor row = images.row(i);
    for (double& v : row.values<double>()) v = 0.05 * double(i % 10) + 0.5 * random.uniform();
  }

  const Dataset rows = from_tensor_slices({{"x", images}, {"y", labels}});
  const bool shared = rows.at(7)["x"].data() == images.row(7).data();
  std::printf("row 7 is the array's own memory: %s\n", shared ? "yes" : "no");

  const Dataset batches = rows.shuffle().batch(32).prefetch().map([](Element e) {
    const Tensor& from = e["x"];
    Tensor to = Tensor::empty(DType::kFloat32, from.shape());
    for (int64_t i = 0; i < from.count(); ++i)
      to.values<float>()[i] = float(from.values<double>()[i]);
    e.set("x", to);
    return e;
  });
  const std::string text = batches.start().explain();
  const std::string planned = chain(text, "planned", "stages");
  std::printf("written: %s\n", chain(text, "described", "planned").c_str());
  std::printf("planned: %s\n", planned.c_str());

  Model model = Sequential({Input({28, 28, 3}), Flatten(), Dense(10)});
  bool refused = false;
  try {
    model.compile({.optimizer = Adam(), .loss = SparseCategoricalCrossentropy()});
  } catch (const Error& e) {
    refused = true;
    std::printf("refused: %s; remedy: %s\n", e.problem().c_str(), e.hint().c_str());
  }
  model.compile({.optimizer = Adam(),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {Accuracy()}});
  const History history = model.fit(batches, {.epochs = 3, .threads = {.intra_op = 1}});
  const bool fell = history.epochs[2]["loss"] < history.epochs[0]["loss"];
  std::printf("loss has fallen after 3 epochs: %s\n", fell ? "yes" : "no");
  const bool no_prefetch = planned.find("prefetch") == std::string::npos;
  return shared && no_prefetch && refused && fell ? 0 : 1;
}
