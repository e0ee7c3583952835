#include <gtest/gtest.h>

#include "headway/check/judge/cuda_fit.h"
#include "headway/check/judge/example_machine.h"

namespace headway {
namespace {

using namespace testing;
using From = CudaLibrary::From;

InstalledFramework tensorflow() {
  return {.name = "TensorFlow",
          .package = "tensorflow",
          .version = "2.21.0",
          .build = FrameworkBuild::kCuda,
          .cuda = "12.5.1",
          .cudnn = "9",
          .kernels = {80, 89},
          .ptx = 90};
}

MachineFacts with_first(const CudaLibrary& library) {
  MachineFacts facts = good_machine();
  facts.cuda_libraries.insert(facts.cuda_libraries.begin(), library);
  return facts;
}

TEST(CheckCudaLibraries, AFileThatIsAnotherVersionThanItsNameIsWrong) {
  CudaLibrary library = cudnn("/old/libcudnn.so.9", "8", From::kPath);
  library.inner_name = "libcudnn.so.8";
  const CheckLine line = line_of(with_first(library), "cuda-library");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "is named for version 9 and is version 8")) << line.found;
  EXPECT_TRUE(says(line, "LD_LIBRARY_PATH"));
}

TEST(CheckCudaLibraries, AFileThatIsNoLibraryIsWrong) {
  CudaLibrary library = cudnn("/old/libcudnn.so.9", "", From::kPath);
  library.is_library = false;
  EXPECT_EQ(fit_of(with_first(library), "cuda-library"), Fit::kWrong);
}

TEST(CheckCudaLibraries, AnotherMajorVersionOnThePathIsDoubtful) {
  const MachineFacts facts = with_first(cudnn("/old/libcudnn.so.8", "8.9.7", From::kPath));
  EXPECT_EQ(fit_of(facts, "cuda-library-order"), Fit::kDoubtful);
  EXPECT_TRUE(says(line_of(facts, "cuda-library-order"), "is cuDNN 8"));
}

TEST(CheckCudaLibraries, AnOlderOneBeforeTheFrameworksOwnIsWrongWhereItIsTaken) {
  MachineFacts facts = with_first(cudnn("/old/libcudnn.so.9", "9.0.0", From::kPath));
  EXPECT_EQ(fit_of(facts, "cuda-library-order"), Fit::kDoubtful);
  EXPECT_EQ(fit_of(facts, "framework-libraries"), Fit::kGood);  // PyTorch looks in its own first
  facts.python.frameworks[0].libraries[0].path = "/old/libcudnn.so.9";
  EXPECT_EQ(fit_of(facts, "framework-libraries"), Fit::kWrong);
}

TEST(CheckCudaLibraries, TheSameVersionTwiceIsGood) {
  const MachineFacts facts = with_first(cudnn("/other/libcudnn.so.9", "9.1.0", From::kPath));
  EXPECT_EQ(fit_of(facts, "cuda-library-order"), Fit::kGood);
}

TEST(CheckCudaLibraries, AFrameworkWhoseCudnnIsNowhereIsWrong) {
  MachineFacts facts = good_machine();
  facts.python.frameworks = {tensorflow()};
  EXPECT_EQ(fit_of(facts, "framework-libraries"), Fit::kGood);
  std::erase_if(facts.cuda_libraries, [](const CudaLibrary& e) { return e.family == "cudnn"; });
  const CheckLine line = line_of(facts, "framework-libraries");
  EXPECT_EQ(line.fit, Fit::kWrong);
  EXPECT_TRUE(says(line, "libcudnn.so.9")) << line.found;
  facts.gpu = {};  // nobody needs it
  EXPECT_EQ(fit_of(facts, "framework-libraries"), Fit::kGood);
}

TEST(CheckCudaLibraries, WhatTheLoaderDoesNotFindForPyTorchIsWrong) {
  MachineFacts facts = good_machine();
  facts.python.frameworks[0].libraries[0].path.clear();
  EXPECT_EQ(fit_of(facts, "framework-libraries"), Fit::kWrong);
}

TEST(CheckCudaLibraries, VersionsAreComparedAsFarAsBothSay) {
  EXPECT_TRUE(is_older("8.9.7", "9.1.0.70"));
  EXPECT_TRUE(is_older("9.1.0", "9.10"));
  EXPECT_FALSE(is_older("9", "9.1.0"));
  EXPECT_FALSE(is_older("9.2", "9.1.0"));
  EXPECT_FALSE(is_older("", "9"));
}

}  // namespace
}  // namespace headway
