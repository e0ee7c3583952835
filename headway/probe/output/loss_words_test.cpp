#include "headway/probe/output/loss_words.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

TEST(LossWords, AreFoundInTheLinesOfManyPrograms) {
  const std::pair<const char*, double> kLines[] = {
      {" 12/31 ====== 2s 110ms/step - accuracy: 0.5000 - loss: 1.2500 - val_loss: 3.0", 1.25},
      {"Epoch 3:  45%|#| 45/100 [00:10<00:12, 4.50it/s, loss=0.3, v_num=2]", 0.3},
      {"Epoch 0: 100%|#| 8/8 [00:01<00:00, v_num=0, train_loss=0.123]", 0.123},
      {"{'loss': 0.69, 'learning_rate': 5e-05, 'epoch': 0.5}", 0.69},
      {"{'eval_loss': 0.9, 'loss': 0.5}", 0.5},
      {"step 100 | loss 0.123 | acc 0.9", 0.123},
      {"iter 20 train mse 0.53", 0.53},
      {"epoch 3: train 0.532 val 0.611", 0.532},
      {"[5] Loss=1e-3 lr=0.1", 1e-3},
      {"Cost after iteration 100: 0.25", 0.25},
      {"val loss 0.7, train loss 0.4", 0.4},
      {"train/loss: -2.5", -2.5},
      {"loss is tensor(0.75, grad_fn=<MseLossBackward0>)", 0.75},
      {"it 3 perplexity 31.5", 31.5},
      {"objective=.5", 0.5},
      {"epoch 1 train_rmse 0.9 loss 0.81", 0.81},
      {"loss at step 100: 0.53", 0.53},
  };
  for (const auto& [line, value] : kLines) {
    const auto found = loss_in(line);
    ASSERT_TRUE(found) << line;
    EXPECT_DOUBLE_EQ(*found, value) << line;
  }
}

TEST(LossWords, LearningRatesAreFoundWhereTheyWereNotRoundedAway) {
  EXPECT_EQ(rate_in("epoch 3 step 60 loss 1.53 lr 2.50e-30"), 2.5e-30);
  EXPECT_EQ(rate_in("{'loss': 0.69, 'learning_rate': 5e-05, 'epoch': 0.5}"), 5e-5);
  EXPECT_EQ(rate_in("Epoch 1: Learning rate is 0.01"), 0.01);
  EXPECT_EQ(rate_in("loss 0.5 lr=0.0"), 0.0);
  for (const char* line : {"loss 0.5", "lr 0.000", "clr 0.5", "lrs 0.5", "lr: nan", "lr"})
    EXPECT_FALSE(rate_in(line)) << line;
}

TEST(LossWords, ThatAreNoNumberAreFoundToo) {
  for (const char* line : {"loss: nan", "loss=NaN", "step 5 loss inf", "Loss: -Infinity",
                           "{'loss': nan, 'epoch': 1.0}", "mse nan"}) {
    const auto found = loss_in(line);
    ASSERT_TRUE(found) << line;
    EXPECT_FALSE(std::isfinite(*found)) << line;
  }
}

TEST(LossWords, OtherLinesNameNone) {
  for (const char* line :
       {"val_loss: 0.5", "test loss: 0.5", "validation loss 0.4", "the loss of a friend",
        "training 3 models", "loss function: mse", "accuracy 0.9", "cost-effective", "loss 5%",
        "{'train_runtime': 3.2, 'train_loss': 0.5}", "loss", "loss:", "eval nll 0.3"})
    EXPECT_FALSE(loss_in(line)) << line;
}

TEST(LossWords, OfABarTheLastOfAStepCounts) {
  LossSeries series;
  const std::pair<int64_t, double> kDrawn[] = {{1, 2.0}, {1, 1.9}, {2, 1.9}, {2, NAN}, {2, NAN}};
  for (const auto& [step, value] : kDrawn) series.add_of_bar(0, step, value);
  ASSERT_EQ(series.kept().size(), 2u);
  EXPECT_DOUBLE_EQ(series.kept()[0].value, 1.9);
  EXPECT_EQ(series.finite, 2);
  EXPECT_EQ(series.bad, 1);
}

TEST(LossWords, ASeriesIsThinnedAndCountsAll) {
  LossSeries series;
  for (int i = 0; i < 10000; ++i) series.add(i, i, i == 7 ? NAN : 1.0 / (i + 1));
  EXPECT_EQ(series.finite, 9999);
  EXPECT_EQ(series.bad, 1);
  EXPECT_LE(series.kept().size(), 400u);
  EXPECT_GE(series.kept().size(), 100u);
  EXPECT_EQ(series.kept().front().step, 0);
  EXPECT_EQ(series.kept().back().step, 9999);
  EXPECT_DOUBLE_EQ(series.first, 1);
  EXPECT_DOUBLE_EQ(series.last, 1e-4);
}

TEST(LossWords, AValueThatIsNoNumberIsSeenWhateverItsName) {
  EXPECT_TRUE(tells_nan("INFO step=50 contrastive=nan mean distance=0.3"));
  EXPECT_TRUE(tells_nan("round 3: -nan"));
  EXPECT_FALSE(tells_nan("finance=0.3 nano 3 banana"));
}

TEST(LossWords, TwoLossesOfOneLineAreSeveral) {
  EXPECT_TRUE(tells_several_losses("step 5 d_loss 0.61 g_loss 1.20"));
  EXPECT_FALSE(tells_several_losses("step 5 loss 0.61 val_loss 0.7 recon 0.4"));
  EXPECT_FALSE(tells_several_losses("loss: 1.9 - box_loss: 1.1 - class_loss: 0.8"));  // the whole
}

TEST(LossWords, WhatIsMadeAsLargeAsCanBeIsNoLossBelowZero) {
  EXPECT_EQ(loss_in("step 5 elbo -364.92 kl 64.25"), 364.92);
}

TEST(LossWords, ARewardIsTold) {
  EXPECT_TRUE(tells_reward("episode 12 | loss 0.4"));
  EXPECT_TRUE(tells_reward("it 30 mean_reward=-12.5"));
  EXPECT_FALSE(tells_reward("return to the best weights; loss 0.5"));
}

}  // namespace
}  // namespace headway
