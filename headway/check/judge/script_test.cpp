#include <gtest/gtest.h>

#include "headway/check/judge/example_machine.h"

namespace headway {
namespace {

using namespace testing;

MachineFacts with_script(const ScriptFacts& script) {
  MachineFacts facts = good_machine();
  facts.script = script;
  facts.script->path = "train.py";
  return facts;
}

TEST(CheckScript, AModuleThatIsMissingComesWithItsPackage) {
  const MachineFacts facts =
      with_script({.modules = {{.what = "sklearn", .line = 3, .file = "train.py"}}});
  const CheckLine line = line_of(facts, "script-imports");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "train.py:3"));
  EXPECT_TRUE(says(line, "/py/bin/python -m pip install scikit-learn"));
}

TEST(CheckScript, AnImportThatMayFailIsDoubtful) {
  const MachineFacts facts =
      with_script({.modules = {{.what = "wandb", .line = 3, .file = "train.py", .maybe = true}}});
  EXPECT_EQ(fit_of(facts, "script-imports"), Fit::kDoubtful);
}

TEST(CheckScript, AGpuThatIsNotThereIsWrongUnlessItAsksFirst) {
  ScriptFacts script{.gpu_line = 9, .highest_gpu = 0};
  EXPECT_EQ(fit_of(with_script(script), "script-gpu"), Fit::kGood);
  MachineFacts facts = with_script(script);
  facts.gpu = {}, facts.python.frameworks = {torch_for_cpu()};
  EXPECT_EQ(fit_of(facts, "script-gpu"), Fit::kWrong);
  facts.script->gpu_asked_first = true;
  EXPECT_EQ(fit_of(facts, "script-gpu"), Fit::kDoubtful);
}

TEST(CheckScript, ANumberBehindTheLastGpuIsWrong) {
  const CheckLine line = line_of(with_script({.gpu_line = 9, .highest_gpu = 3}), "script-gpu");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "asks for GPU 3; 2 can be used")) << line.found;
}

TEST(CheckScript, ABuildForTheCpuDoesNotServeIt) {
  MachineFacts facts = with_script({.gpu_line = 9, .highest_gpu = 0});
  facts.python.frameworks = {torch_for_cpu()};
  EXPECT_EQ(fit_of(facts, "script-gpu"), Fit::kWrong);
}

TEST(CheckScript, WorkersAreComparedWithCoresAndDevShm) {
  ScriptFacts script{.workers = 8, .workers_line = 4, .batch = 64, .batch_line = 4};
  EXPECT_EQ(fit_of(with_script(script), "script-workers"), Fit::kGood);
  MachineFacts facts = with_script(script);
  facts.cores.usable = 4, facts.memory.shm_free_bytes = 500'000'000;
  EXPECT_TRUE(says(line_of(facts, "script-workers"), "num_workers=3"));
  EXPECT_EQ(fit_of(facts, "script-shared-memory"), Fit::kDoubtful);
}

TEST(CheckScript, LinesThatHideGpusAreNamed) {
  EXPECT_TRUE(says(line_of(with_script({.hides_gpus_line = 2}), "script-gpu-visible"),
                   "train.py:2 hides all GPUs"));
  EXPECT_TRUE(says(line_of(with_script({.late_visible_line = 7}), "script-gpu-visible"),
                   "after a framework was imported"));
}

TEST(CheckScript, PathsThatAreMissingAreNamed) {
  const MachineFacts facts =
      with_script({.missing_paths = {{.what = "data/a.csv", .line = 5, .file = "train.py"}}});
  EXPECT_EQ(fit_of(facts, "script-paths"), Fit::kWrong);
}

}  // namespace
}  // namespace headway
