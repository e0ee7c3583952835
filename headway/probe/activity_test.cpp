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

TEST(Activity, OwnCodeIsOwnCode) {
  EXPECT_EQ(meaning({users("prepare"), users("<module>")}), Activity::kUser);
  EXPECT_FALSE(is_training(Activity::kUser));
}

}  // namespace
}  // namespace headway
