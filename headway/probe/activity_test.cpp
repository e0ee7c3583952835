#include "headway/probe/activity.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

SeenFrame library(const char* file, const char* function) { return {file, function, 1, false, ""}; }
SeenFrame users(const char* function) { return {"train.py", function, 1, true, "x = 1"}; }

Activity meaning(std::vector<SeenFrame> frames, Role role = Role::kMain) {
  return meaning_of(frames, role, true).activity;
}

TEST(Activity, ADatasetCalledByTheLoaderOfTheMainThreadProduces) {
  EXPECT_EQ(meaning({users("Cats.__getitem__"),
                     library("/lib/torch/utils/data/_utils/fetch.py", "_MapDatasetFetcher.fetch"),
                     library("/lib/torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"),
                     users("main")}),
            Activity::kProduce);
}

TEST(Activity, AForkedWorkerDoesNotInheritWhatItsParentDid) {
  EXPECT_EQ(meaning({library("/lib/multiprocessing/queues.py", "Queue.get"),
                     library("/lib/torch/utils/data/_utils/worker.py", "_worker_loop"),
                     library("/lib/multiprocessing/popen_fork.py", "Popen._launch"),
                     library("/lib/torch/utils/data/dataloader.py", "DataLoader.__iter__"),
                     users("main")}),
            Activity::kIdle);
}

TEST(Activity, ALoopThatIsCalledValidateValidates) {
  EXPECT_EQ(meaning({library("/lib/torch/nn/modules/module.py", "Module._call_impl"),
                     users("validate"), users("main")}),
            Activity::kValidate);
}

TEST(Activity, KerasItselfWaitsWhereItDropsTheIteratorOfAnEpoch) {
  const SeenFrame fit =
      library("/lib/keras/src/backend/tensorflow/trainer.py", "TensorFlowTrainer.fit");
  EXPECT_TRUE(drops_a_pipeline({fit, users("main")}));
  EXPECT_FALSE(drops_a_pipeline(
      {library("/lib/tensorflow/python/eager/execute.py", "quick_execute"), fit, users("main")}));
}

TEST(Activity, OwnCodeIsOwnCode) {
  EXPECT_EQ(meaning({users("prepare"), users("<module>")}), Activity::kUser);
  EXPECT_FALSE(is_training(Activity::kUser));
}

TEST(Activity, ALineOfALogBeforeTrainingDoesNotBeginIt) {
  EXPECT_FALSE(is_training(
      meaning({library("/usr/lib/python3.11/logging/__init__.py", "Logger.info"), users("main")})));
}

TEST(Activity, APictureThatIsWrittenInTheLoopIsNoTraining) {
  const auto saves = [](const char* line) {
    return meaning({library("/lib/PIL/ImageFile.py", "_save"),
                    library("/lib/PIL/Image.py", "Image.save"),
                    {"train.py", "write_sheet", 7, true, line},
                    users("main")});
  };
  EXPECT_EQ(saves("sheet.save(path, optimize=True)"), Activity::kCallback);
  EXPECT_EQ(saves("im.save(buffer, format='JPEG', quality=q)"), Activity::kUser);
  EXPECT_FALSE(is_training(Activity::kCallback)) << "it may be done before training, too";
  EXPECT_FALSE(is_training(Activity::kCheckpoint));
}

TEST(Activity, ACallbackThatCollectsGarbageOrSleepsDoesThat) {
  const auto does = [](const char* line) {
    return meaning({{"train.py", "Tidy.on_train_batch_end", 7, true, line},
                    library("/lib/keras/src/callbacks/callback_list.py", "on_train_batch_end"),
                    users("main")});
  };
  EXPECT_EQ(does("gc.collect()"), Activity::kGarbage);
  EXPECT_EQ(does("self.rows.append(logs)"), Activity::kCallback);
  EXPECT_EQ(account_of(Activity::kCallback, Wait::kSleep, true), Account::kSleeps);
  EXPECT_EQ(account_of(Activity::kCallback, Wait::kFileLock, true), Account::kWaitsForFileLock);
  EXPECT_EQ(account_of(Activity::kCallback, Wait::kNothing, true), Account::kLogs);
}

TEST(Activity, ARecomputationIsAStepAndNoCheckpoint) {
  EXPECT_EQ(meaning({users("Block.forward"),
                     library("/lib/torch/utils/checkpoint.py", "CheckpointFunction.backward"),
                     library("/lib/torch/autograd/function.py", "BackwardCFunction.apply"),
                     library("/lib/torch/autograd/__init__.py", "backward"), users("main")}),
            Activity::kStep);
}

TEST(Activity, WhatDynamoWrapsRunsAndWhatItConvertsCompiles) {
  const SeenFrame wrapper = library("/lib/torch/_dynamo/eval_frame.py", "_fn");
  EXPECT_EQ(meaning({wrapper, users("main")}), Activity::kUser);
  EXPECT_EQ(
      meaning({library("/lib/torch/_dynamo/convert_frame.py", "_compile"), wrapper, users("main")}),
      Activity::kTrace);
}

TEST(Activity, LoadingModulesInTheMiddleIsPreparing) {
  EXPECT_EQ(account_of(Activity::kImport, Wait::kNothing, true), Account::kPrepares);
}

}  // namespace
}  // namespace headway
