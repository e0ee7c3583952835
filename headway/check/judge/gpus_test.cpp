#include <gtest/gtest.h>

#include "headway/check/judge/example_machine.h"
#include "headway/check/judge/visible_gpus.h"

namespace headway {
namespace {

using namespace testing;

MachineFacts without_gpu() {
  MachineFacts facts = good_machine();
  facts.gpu = {};
  facts.python.frameworks = {torch_for_cpu()};
  return facts;
}

MachineFacts with_visible(const std::string& value) {
  MachineFacts facts = good_machine();
  facts.gpu.visible = value;
  return facts;
}

TEST(CheckGpus, AMachineWithoutAGpuIsGood) {
  const MachineFacts facts = without_gpu();
  EXPECT_TRUE(says(line_of(facts, "gpu-driver"), "no NVIDIA GPU"));
  for (const CheckLine& each : judge(facts)) EXPECT_NE(each.fit, Fit::kWrong) << each.found;
}

TEST(CheckGpus, AGpuOnTheBusWithoutADriverIsWrong) {
  MachineFacts facts = without_gpu();
  facts.gpu.on_bus = 1;
  const CheckLine line = line_of(facts, "gpu-driver");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "install NVIDIA's driver"));
}

TEST(CheckGpus, InAContainerTheGpuIsHandedIn) {
  MachineFacts facts = without_gpu();
  facts.gpu.kernel_module = "550.54.15", facts.memory.container = true;
  EXPECT_TRUE(says(line_of(facts, "gpu-driver"), "docker run --gpus all"));
}

TEST(CheckGpus, ADriverThatWasUpdatedBelowARunningOneIsNamed) {
  MachineFacts facts = without_gpu();
  facts.gpu.nvml = NvmlState::kVersionMismatch, facts.gpu.kernel_module = "535.1.2";
  EXPECT_EQ(fit_of(facts, "gpu-driver"), Fit::kWrong);
  EXPECT_TRUE(says(line_of(facts, "gpu-driver"), "535.1.2"));
}

TEST(CheckGpus, TheDriversPartThatComputesMustBeThere) {
  MachineFacts facts = good_machine();
  facts.gpu.cuda_library = false;
  EXPECT_EQ(fit_of(facts, "gpu-cuda-library"), Fit::kWrong);
  facts.memory.container = true;
  EXPECT_TRUE(says(line_of(facts, "gpu-cuda-library"), "NVIDIA_DRIVER_CAPABILITIES"));
}

TEST(CheckGpus, AnEmptyListHidesAll) {
  for (const char* value : {"", "-1", "-1,0", " ", "none", "NoDevFiles"}) {
    const CheckLine line = line_of(with_visible(value), "gpu-visible");
    EXPECT_EQ(line.fit, Fit::kWrong) << value;
    EXPECT_TRUE(says(line, "no GPU can be used")) << line.found;
    EXPECT_EQ(line.cause, "gpu-not-used");
  }
}

TEST(CheckGpus, AnIndexOutOfRangeHidesWhatStandsBehindIt) {
  const CheckLine line = line_of(with_visible("0,7,1"), "gpu-visible");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "there is no GPU 7")) << line.found;
  EXPECT_TRUE(says(line, "1 of 2 GPUs can be used")) << line.found;
}

TEST(CheckGpus, AUuidMayBeShortenedAndMustBeThere) {
  EXPECT_EQ(fit_of(with_visible("GPU-22"), "gpu-visible"), Fit::kGood);
  EXPECT_TRUE(says(line_of(with_visible("GPU-99"), "gpu-visible"), "no GPU has this UUID"));
  EXPECT_EQ(fit_of(with_visible("GPU-"), "gpu-visible"), Fit::kWrong);  // both begin like this
}

TEST(CheckGpus, AGpuNamedTwiceHidesAll) {
  EXPECT_TRUE(visible_gpus("1,1", good_machine().gpu.gpus).shown.empty());
}

TEST(CheckGpus, AChoiceOfGpusIsGoodAndMigInstancesAreNotSeen) {
  EXPECT_EQ(fit_of(with_visible("1"), "gpu-visible"), Fit::kGood);
  EXPECT_EQ(visible_gpus("1, 0", good_machine().gpu.gpus).shown, (std::vector<size_t>{1, 0}));
  EXPECT_EQ(fit_of(with_visible("MIG-1f/1/0"), "gpu-visible"), Fit::kNotSeen);
}

TEST(CheckGpus, MemoryThatAnotherProgramHoldsIsDoubtful) {
  MachineFacts facts = good_machine();
  facts.gpu.gpus[1].memory_used = facts.gpu.gpus[1].memory_bytes * 9 / 10;
  EXPECT_EQ(fit_of(facts, "gpu"), Fit::kDoubtful);
}

TEST(CheckGpus, ADriverThatShowsNoGpuIsWrong) {
  MachineFacts facts = good_machine();
  facts.gpu.gpus.clear();
  EXPECT_EQ(fit_of(facts, "gpu-driver"), Fit::kWrong);
}

}  // namespace
}  // namespace headway
