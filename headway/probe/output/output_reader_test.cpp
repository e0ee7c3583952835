#include "headway/probe/output/output_reader.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(OutputReader, FollowsKerasThroughTwoEpochs) {
  OutputReader reader;
  reader.take("Epoch 1/5\n", 0);
  reader.take("\r\x1b[1m 1/30\x1b[0m ====  3s 110ms/step - loss: 2.5", 1);
  reader.take("\r\x1b[1m30/30\x1b[0m ====  3s 100ms/step - loss: 1.5\n", 4);
  reader.take("Epoch 2/5\n 3/30 == 1s 90ms/step - loss: 1.25\r", 5);
  const SeenProgress& seen = reader.progress();
  EXPECT_EQ(seen.epoch, 2);
  EXPECT_EQ(seen.epochs, 5);
  EXPECT_EQ(seen.step, 3);
  EXPECT_EQ(seen.steps_per_epoch, 30);
  EXPECT_EQ(seen.steps, 33);
  EXPECT_DOUBLE_EQ(seen.loss, 1.25);
}

TEST(OutputReader, KnowsThatKerasDoesNotKnowTheEnd) {
  OutputReader reader;
  reader.take("Epoch 1/2\n  7/Unknown 3s 100ms/step - loss: 0.5\r", 3);
  EXPECT_EQ(reader.progress().step, 7);
  EXPECT_EQ(reader.progress().steps_per_epoch, -1);
}

TEST(OutputReader, BelievesThatDataRanOutOnlyWhereSoManyWereAskedFor) {
  const char* const kWords = "x.py:164: UserWarning: Your input ran out of data; interrupting\n";
  OutputReader asked;
  asked.take("Epoch 1/2\n  7/30 3s 100ms/step - loss: 0.5\r", 3);
  asked.take(kWords, 4);
  EXPECT_EQ(asked.output().remarks.size(), 1u);
  OutputReader learns;
  learns.take("Epoch 1/2\n  7/Unknown 3s 100ms/step - loss: 0.5\r", 3);
  learns.take(kWords, 4);
  EXPECT_TRUE(learns.output().remarks.empty());
}

TEST(OutputReader, KnowsPyTorchsWarningOfShapesThatAreSpread) {
  OutputReader reader;
  reader.take(
      "loss.py:535: UserWarning: Using a target size (torch.Size([250])) that is different to "
      "the input size (torch.Size([250, 1])). This will likely lead to incorrect results\n",
      3);
  ASSERT_EQ(reader.output().remarks.size(), 1u);
  EXPECT_EQ(reader.output().remarks[0].kind, Remark::kBroadcasts);
}

TEST(OutputReader, ReadsTqdmAndLightning) {
  OutputReader reader;
  reader.take("Epoch 3:  45%|####  | 45/100 [00:10<00:12, 4.50it/s, loss=0.3]\r", 10);
  EXPECT_EQ(reader.progress().epoch, 3);
  EXPECT_EQ(reader.progress().step, 45);
  EXPECT_EQ(reader.progress().steps_per_epoch, 100);
  EXPECT_DOUBLE_EQ(reader.progress().loss, 0.3);
}

TEST(OutputReader, ReadsPlainLinesAndCountsLossesThatAreNone) {
  OutputReader reader;
  reader.take("epoch 1 step 10/938 loss 2.25\nepoch 1 step 20/938 loss nan\n", 2);
  EXPECT_EQ(reader.progress().steps, 20);
  EXPECT_EQ(reader.progress().steps_per_epoch, 938);
  EXPECT_EQ(reader.progress().bad_losses, 1);
}

TEST(OutputReader, ABatchThatNeverChangesIsASize) {
  OutputReader reader;
  reader.take("river: (14600, 8) batch 32 x 730 days\nbatch 32\n", 1);
  EXPECT_EQ(reader.progress().steps, 0);
  reader.take("batch 33 done\nbatch 34 done\n", 2);
  EXPECT_EQ(reader.progress().step, 34);
}

TEST(OutputReader, ReadsStepsByOtherNames) {
  OutputReader reader;
  reader.take("15:37:35 | INFO | it 000000 | loss 0.0637 | ema 0.06\n", 1, true);
  reader.take("15:37:36 | INFO | it 000025 | loss nan | ema nan\n", 2, true);
  EXPECT_EQ(reader.progress().steps, 25);
  EXPECT_EQ(reader.progress().bad_losses, 1);
  OutputReader other;
  other.take("[0:003] loss=0.512  1.2s\n[0:004] loss=0.498  1.5s\n", 1, false);
  EXPECT_EQ(other.progress().step, 4);
  EXPECT_DOUBLE_EQ(other.progress().loss, 0.498);
}

TEST(OutputReader, NotesTheShuffleBufferUntilItIsFull) {
  OutputReader reader;
  reader.take(
      "I shuffle_dataset_op.cc:450] ShuffleDatasetV3:1: Filling up shuffle buffer (this may take a "
      "while): 512 of 1024\n",
      12, true);
  EXPECT_EQ(reader.output().shuffle_fill, 512);
  EXPECT_EQ(reader.output().shuffle_size, 1024);
  reader.take("Shuffle buffer filled.\n", 20, true);
  EXPECT_TRUE(reader.output().shuffle_filled);
}

TEST(OutputReader, NamesTheUsersLineOfATraceback) {
  OutputReader reader;
  reader.take(
      "Traceback (most recent call last):\n"
      "  File \"/somewhere/train.py\", line 7, in <module>\n    main()\n"
      "  File \"/usr/lib/python3/dist-packages/PIL/Image.py\", line 3227, in open\n    fp = x\n"
      "FileNotFoundError: [Errno 2] No such file: 'a.png'\n",
      3, true);
  EXPECT_EQ(reader.output().raised_at.line, 7);
  EXPECT_EQ(reader.output().exception, "FileNotFoundError: [Errno 2] No such file: 'a.png'");
}

TEST(OutputReader, KeepsNoSecretOfRemarksAndExceptions) {
  OutputReader reader;
  reader.take("out of memory, api_key=abc123def\n", 1);
  reader.take("Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n", 2);
  reader.take("    login('me', 'opensesame')\nValueError: bad password opensesame\n", 2);
  ASSERT_EQ(reader.output().remarks.size(), 1u);
  EXPECT_EQ(reader.output().remarks[0].text.find("abc123def"), std::string::npos);
  EXPECT_EQ(reader.output().exception, "ValueError: bad password ***");
}

TEST(OutputReader, ReadsNoLineThatItDidNotSeeWhole) {
  OutputReader reader;
  reader.take("step 1 loss 0.9\nstep 2 lo", 1);
  reader.lose(1000, 2);
  reader.take("23 loss 77.0\nstep 31 loss 0.5\n", 3);
  EXPECT_EQ(reader.progress().step, 31);
  EXPECT_DOUBLE_EQ(reader.progress().loss, 0.5);
  EXPECT_EQ(reader.progress().losses, 2);
  EXPECT_EQ(reader.output().bytes, 25 + 1000 + 30);
}

TEST(OutputReader, KeepsEveryLossOnceWithItsTimeAndStep) {
  OutputReader reader;
  reader.take("Epoch 1/2\n 1/30 == 1s 90ms/step - loss: 2.0", 1);
  reader.take("\r 2/30 == 1s 90ms/step - loss: 1.5", 2);
  reader.take("\b\b\b\b\r 3/30 == 1s 90ms/step - loss: nan", 3);
  reader.take("\n", 9);
  const auto& kept = reader.losses().kept();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[1].step, 2);
  EXPECT_DOUBLE_EQ(kept[1].at_s, 2);
  EXPECT_DOUBLE_EQ(kept[1].value, 1.5);
  EXPECT_EQ(reader.progress().losses, 2);
  EXPECT_EQ(reader.progress().bad_losses, 1);
}

TEST(OutputReader, ReadsTheTrainerOfHuggingFace) {
  OutputReader reader;
  reader.take("  5%|#  | 10/200 [00:01<00:19, 9.8it/s]\r", 1, true);
  reader.take("{'loss': 0.69, 'learning_rate': 5e-05, 'epoch': 0.5}\n", 1.5);
  reader.take(" 15%|#  | 30/200 [00:03<00:19, 9.8it/s]\r", 3, true);
  reader.take("{'loss': 0.5, 'learning_rate': 4e-05, 'epoch': 1.5}\n", 3.5);
  reader.take(" 16%|#  | 32/200 [00:03<00:19, 9.8it/s]\r", 4, true);
  EXPECT_EQ(reader.progress().steps, 32);
  EXPECT_EQ(reader.progress().epoch, 2);
  ASSERT_EQ(reader.losses().kept().size(), 2u);
  EXPECT_EQ(reader.losses().kept()[1].step, 30);
}

TEST(OutputReader, BarsOfValidationCountNoSteps) {
  OutputReader reader;
  reader.take("  5%|#  | 10/200 [00:01<00:19, 9.8it/s]\r", 1, true);
  reader.validates(true);
  reader.take(" 50%|#  | 4/8 [00:01<00:01, 9.8it/s]\r 8/8 == 1s 90ms/step - loss: 7.0\n", 2, true);
  reader.take("Epoch 0:   6%|#  | 1/16 [00:01<00:19, 9.8it/s]\r", 2.5, true);
  reader.validates(false);
  reader.take("Validation DataLoader 0:  50%|#  | 4/8 [00:01<00:01, 9.8it/s]\r", 3, true);
  reader.take("  6%|#  | 12/200 [00:01<00:19, 9.8it/s]\r", 4, true);
  EXPECT_EQ(reader.progress().steps, 12 + 1);  // a bar that names the epoch is training's
  EXPECT_EQ(reader.progress().losses, 0);
}

TEST(OutputReader, AStepThatIsCountedThroughAllEpochsGoesOn) {
  OutputReader reader;
  reader.take("epoch 1 step 900 loss 2\nepoch 2 step 950 loss 1\n", 1);
  EXPECT_EQ(reader.progress().steps, 950);
  reader.take("{\"epoch\": 2, \"step\": 960, \"loss\": 0.5}\n", 2);
  EXPECT_EQ(reader.progress().steps, 960);
}

TEST(OutputReader, ABarThatIsDrawnAgainTellsNoNewLoss) {
  OutputReader reader;
  for (int step = 1; step <= 100; ++step) {
    std::string line = std::to_string(step) + "/900 [00:01<00:09, 10.0it/s";
    // A new text at every tenth step; at step 60 it equals the one before.
    if (step >= 10)
      line += std::string(", loss=0.") + (step / 10 == 6 ? '5' : char('0' + step / 10 % 10));
    reader.take("  1%|#  | " + line + "]\r", 0.1 * step);
  }
  EXPECT_EQ(reader.progress().losses, 10);
}

TEST(OutputReader, NoNumberUnderAnyNameIsABadLoss) {
  OutputReader reader;
  reader.take("step=50 contrastive=nan\nstep=100 contrastive=nan\n", 1);
  EXPECT_EQ(reader.progress().bad_losses, 2);
  reader.take("no step here: nan\n", 2);
  EXPECT_EQ(reader.progress().bad_losses, 2);
}

TEST(OutputReader, WhatWasMadeBeforeItLookedDoesNotCount) {
  OutputReader reader;
  reader.joins_late();
  reader.take("step 1000 loss 0.5\nstep 1010 loss 0.4\n", 1);
  EXPECT_EQ(reader.progress().steps, 10);
  EXPECT_EQ(reader.progress().step, 1010);
}

}  // namespace
}  // namespace headway
