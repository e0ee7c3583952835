#include "headway/train/loop/trained_state.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "headway/core/error.h"
#include "headway/train/device/tensor_bridge.h"

namespace headway {
namespace {

// One trainable weight and one that is not.
TrainedState state(double first = 1) {
  std::vector<NamedWeight> weights;
  weights.push_back({"moves", at::full({2}, first).requires_grad_()});
  weights.push_back({"stays", at::full({3}, first), false});
  return TrainedState(std::move(weights), Adam(0.1), at::kCPU);
}

void step(TrainedState& state) {
  at::Tensor weight = state.weights()[0].value;
  (weight * at::rand({2})).sum().backward();
  state.optimizer().step();
  state.optimizer().zero_grad();
}

TEST(TrainedState, GoesOnFromWhatWasSavedBitForBit) {
  TrainedState whole = state(), resumed = state(7);
  step(whole);
  SavedTraining saved;
  Safetensors content;
  whole.save(saved, content);
  // A copy, as in a file.
  for (auto& [name, tensor] : content.tensors) tensor = from_torch(to_torch(tensor).clone());
  step(whole);
  resumed.restore(saved, content);
  step(resumed);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(at::equal(whole.weights()[i].value, resumed.weights()[i].value)) << i;
  EXPECT_EQ(resumed.optimizer().iterations(), 2);
}

TEST(TrainedState, KeepsGradientsOnlyWhileBatchesAreAccumulated) {
  TrainedState trained = state();
  trained.weights()[0].value.sum().backward();
  for (const int64_t accumulated : {0, 1}) {
    SavedTraining saved;
    saved.accumulated = accumulated;
    Safetensors content;
    trained.save(saved, content);
    EXPECT_EQ(content.find("gradient/moves") != nullptr, accumulated > 0);
    EXPECT_EQ(content.find("gradient/stays"), nullptr);
  }
}

TEST(TrainedState, GoesBackToRememberedWeights) {
  TrainedState trained = state();
  EXPECT_FALSE(trained.recall_weights());
  trained.remember_weights();
  step(trained);
  EXPECT_FALSE(at::equal(trained.weights()[0].value, at::ones({2})));
  EXPECT_TRUE(trained.recall_weights());
  EXPECT_TRUE(at::equal(trained.weights()[0].value, at::ones({2})));
}

TEST(TrainedState, NamesTheTensorThatIsMissing) {
  TrainedState trained = state();
  try {
    trained.restore({}, {});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(e.problem().find("'moves'"), std::string::npos);
  }
}

}  // namespace
}  // namespace headway
