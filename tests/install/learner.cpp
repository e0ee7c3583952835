// A stranger's program that trains: libtorch is linked, its headers are not needed.
#include <headway/train/train.h>

#include <cstdio>

using namespace headway;

int main() {
  const Dataset lines = range(64)
                            .map([](int64_t i) {
                              Element e;
                              e.set("x", Tensor::vector<float>({static_cast<float>(i) / 64}));
                              e.set("y", Tensor::vector<float>({static_cast<float>(i) / 32 + 1}));
                              return e;
                            })
                            .batch(16);
  Model model = Sequential({Dense(1)}, {.device = "cpu"});
  model.compile({.optimizer = Adam(0.1), .loss = MeanSquaredError()});
  const History history = model.fit(lines, {.epochs = 50, .show = Show::kNothing});
  std::printf("loss %.3f, then %.3f\n", history.epochs.front()["loss"],
              history.epochs.back()["loss"]);
  return history.epochs.back()["loss"] < 0.01 ? 0 : 1;
}
