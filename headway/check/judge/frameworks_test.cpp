#include <gtest/gtest.h>

#include "headway/check/judge/cuda_fit.h"
#include "headway/check/judge/example_machine.h"

namespace headway {
namespace {

using namespace testing;

MachineFacts with_framework(const InstalledFramework& framework) {
  MachineFacts facts = good_machine();
  facts.python.frameworks = {framework};
  return facts;
}

TEST(CheckFrameworks, ABuildForTheCpuBesideAGpuIsWrong) {
  const CheckLine line = line_of(with_framework(torch_for_cpu()), "framework");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "/py/bin/python -m pip install --force-reinstall torch"));
  EXPECT_EQ(line.cause, "gpu-not-used");
}

TEST(CheckFrameworks, BesideAnotherThatUsesTheGpuItIsDoubtful) {
  MachineFacts facts = good_machine();
  facts.python.frameworks.push_back({.name = "TensorFlow",
                                     .package = "tensorflow-cpu",
                                     .version = "2.21.0",
                                     .build = FrameworkBuild::kCpu});
  EXPECT_EQ(fit_of(facts, "framework"), Fit::kDoubtful);
  EXPECT_TRUE(says(line_of(facts, "framework"), "tensorflow[and-cuda]"));
}

TEST(CheckFrameworks, WithoutAGpuEveryBuildIsGood) {
  for (const InstalledFramework& each : {torch_for_cpu(), torch_for_cuda()}) {
    MachineFacts facts = with_framework(each);
    facts.gpu = {};
    EXPECT_EQ(fit_of(facts, "framework"), Fit::kGood);
  }
}

TEST(CheckFrameworks, ABuildThatCannotBeToldIsNotSeen) {
  EXPECT_EQ(
      fit_of(with_framework({.name = "PyTorch", .package = "torch", .version = "2"}), "framework"),
      Fit::kNotSeen);
}

TEST(CheckFrameworks, ADriverMustBeAsNewAsTheBuildsMajorVersion) {
  EXPECT_EQ(driver_fit(12040, "12.4"), DriverFit::kFits);
  EXPECT_EQ(driver_fit(12040, "11.8"), DriverFit::kFits);
  EXPECT_EQ(driver_fit(12040, "12.8"), DriverFit::kOlderMinor);
  EXPECT_EQ(driver_fit(12040, "13.0"), DriverFit::kTooOld);
  EXPECT_EQ(driver_fit(12040, "12"), DriverFit::kFits);
  EXPECT_EQ(driver_fit(0, "12.4"), DriverFit::kUnknown);
  EXPECT_EQ(driver_fit(12040, ""), DriverFit::kUnknown);
}

TEST(CheckFrameworks, ADriverThatIsTooOldIsWrong) {
  MachineFacts facts = good_machine();
  facts.gpu.cuda = 11080;
  EXPECT_EQ(fit_of(facts, "framework-driver"), Fit::kWrong);
  facts.gpu.cuda = 12010;
  EXPECT_EQ(fit_of(facts, "framework-driver"), Fit::kDoubtful);
}

TEST(CheckFrameworks, CodeForAnOlderGpuOfTheSameMajorVersionRuns) {
  const InstalledFramework torch = torch_for_cuda();
  EXPECT_EQ(kernel_fit(torch, 90), KernelFit::kBuiltIn);
  EXPECT_EQ(kernel_fit(torch, 89), KernelFit::kBuiltIn);
  EXPECT_EQ(kernel_fit(torch, 120), KernelFit::kMissing);
  EXPECT_EQ(kernel_fit(torch, 37), KernelFit::kMissing);
  EXPECT_EQ(kernel_fit({.kernels = {60, 80}, .ptx = 90}, 100), KernelFit::kTranslated);
  EXPECT_EQ(kernel_fit({}, 90), KernelFit::kUnknown);
}

TEST(CheckFrameworks, AGpuThatTheBuildDoesNotKnowIsWrong) {
  MachineFacts facts = good_machine();
  facts.gpu.gpus[1].capability = 120;
  EXPECT_EQ(fit_of(facts, "framework-kernels"), Fit::kWrong);
  facts.gpu.visible = "0";  // the one it does know
  EXPECT_EQ(fit_of(facts, "framework-kernels"), Fit::kGood);
}

TEST(CheckFrameworks, TheFirstStepMayCompileForMinutes) {
  MachineFacts facts = good_machine();
  facts.python.frameworks[0].kernels = {80}, facts.python.frameworks[0].ptx = 80;
  EXPECT_EQ(line_of(facts, "framework-kernels").cause, "ptx-jit");
}

TEST(CheckFrameworks, KerasNeedsTheBackendThatIsChosen) {
  MachineFacts facts = good_machine();
  facts.python.frameworks.push_back({.name = "Keras", .package = "keras", .version = "3.5.0"});
  facts.python.keras_backend = "torch";
  EXPECT_EQ(fit_of(facts, "framework"), Fit::kGood);
  facts.python.keras_backend = "jax";
  EXPECT_TRUE(says(line_of(facts, "framework"), "pip install jax"));
}

TEST(CheckFrameworks, APythonThatDoesNotAnswerIsNotSeen) {
  MachineFacts facts = good_machine();
  facts.python = {.program = "/py/bin/python", .trouble = "'python' did not end within 5 s"};
  EXPECT_EQ(fit_of(facts, "python"), Fit::kNotSeen);
  facts.python = {};
  EXPECT_EQ(fit_of(facts, "python"), Fit::kNotSeen);
}

TEST(CheckFrameworks, AnotherPythonOnThePathIsDoubtful) {
  MachineFacts facts = good_machine();
  facts.python.on_path = "/usr/bin/python3";
  EXPECT_EQ(fit_of(facts, "python"), Fit::kDoubtful);
}

TEST(CheckFrameworks, ThePlainBlasIsDoubtfulForNumPyAndWrongForOurLayers) {
  MachineFacts facts = good_machine();
  facts.python.numpy = {.user = "NumPy 1.24", .library = "/lib/libblas.so.3", .reference = true};
  facts.own_trainer.blas = {.user = "headway train", .library = "/b.so", .reference = true};
  EXPECT_EQ(fit_of(facts, "numpy-blas"), Fit::kDoubtful);
  EXPECT_EQ(line_of(facts, "headway-blas").cause, "reference-blas");
  EXPECT_EQ(fit_of(facts, "headway-blas"), Fit::kWrong);
  facts.python.numpy->reference = false, facts.own_trainer.blas->reference.reset();
  EXPECT_EQ(fit_of(facts, "numpy-blas"), Fit::kGood);
  EXPECT_EQ(fit_of(facts, "headway-blas"), Fit::kNotSeen);
}

TEST(CheckFrameworks, TwoPackagesOfTensorFlowAreDoubtful) {
  MachineFacts facts = good_machine();
  facts.python.tensorflow_packages = {"tensorflow", "tensorflow-cpu"};
  EXPECT_EQ(fit_of(facts, "framework-twice"), Fit::kDoubtful);
}

TEST(CheckOwnTrainer, ALibraryThatIsGoneIsNamed) {
  MachineFacts facts = good_machine();
  facts.own_trainer.libraries->push_back({"libtorch_cpu.so", ""});
  facts.own_trainer.libraries->push_back({"libc10.so", ""});
  const CheckLine line = line_of(facts, "headway-train");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "libtorch_cpu.so and 1 more")) << line.found;
}

TEST(CheckOwnTrainer, WhatTheLoaderCannotSayIsNotSeen) {
  MachineFacts facts = good_machine();
  facts.own_trainer.libraries.reset(), facts.own_trainer.trouble = "no loader";
  EXPECT_EQ(fit_of(facts, "headway-train"), Fit::kNotSeen);
  facts.own_trainer = {.path = "/bin/headway-train"};
  EXPECT_EQ(fit_of(facts, "headway-train"), Fit::kDoubtful);
}

}  // namespace
}  // namespace headway
