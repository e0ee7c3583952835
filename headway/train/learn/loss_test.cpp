#include "headway/train/learn/loss.h"

#include <gtest/gtest.h>

#include <string>

#include "headway/core/error.h"

namespace headway {
namespace {

std::string remedy(const Loss& loss, Activation last) {
  try {
    loss.check_fits(last);
  } catch (const Error& e) {
    return e.hint();
  }
  return "fits";
}

TEST(Loss, CrossentropyOfProbabilitiesNeedsAnActivationThatGivesThem) {
  for (const Loss& loss : {SparseCategoricalCrossentropy(), CategoricalCrossentropy()}) {
    EXPECT_EQ(remedy(loss, "linear"),
              "end the model in .activation = \"softmax\", or give the loss {.from_logits = true}");
    EXPECT_NE(remedy(loss, "relu"), "fits");
    EXPECT_EQ(remedy(loss, "softmax"), "fits");
    EXPECT_EQ(remedy(loss, "sigmoid"), "fits");
  }
  EXPECT_EQ(remedy(BinaryCrossentropy(), "tanh"),
            "end the model in .activation = \"sigmoid\", or give the loss {.from_logits = true}");
  EXPECT_EQ(remedy(BinaryCrossentropy(), "sigmoid"), "fits");
}

TEST(Loss, CrossentropyOfLogitsNeedsAModelWithoutSuchAnActivation) {
  const Loss loss = SparseCategoricalCrossentropy({.from_logits = true});
  EXPECT_EQ(remedy(loss, "softmax"), "remove the last softmax, or remove from_logits");
  EXPECT_EQ(remedy(loss, "linear"), "fits");
  EXPECT_NE(remedy(BinaryCrossentropy({.from_logits = true}), "sigmoid"), "fits");
}

TEST(Loss, DistancesFitEveryEnd) {
  for (const Loss& loss : {MeanSquaredError(), MeanAbsoluteError(), Huber()})
    for (Activation last : {Activation("linear"), Activation("softmax"), Activation("relu")})
      EXPECT_EQ(remedy(loss, last), "fits");
}

TEST(Loss, IsCalledAsInKeras) {
  EXPECT_EQ(SparseCategoricalCrossentropy().name(), "sparse_categorical_crossentropy");
  EXPECT_EQ(MeanSquaredError().name(), "mean_squared_error");
}

TEST(Loss, RefusesWhatCannotBe) {
  EXPECT_THROW(BinaryCrossentropy({.label_smoothing = 1.5}), Error);
  EXPECT_THROW(Huber(0), Error);
}

}  // namespace
}  // namespace headway
