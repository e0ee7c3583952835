#include <gtest/gtest.h>

#include <cstdlib>

#include "headway/check/facts/ask_program.h"
#include "headway/check/facts/cuda_libraries.h"
#include "headway/check/facts/disk.h"
#include "headway/check/facts/frameworks.h"
#include "headway/check/facts/gpus.h"
#include "headway/check/facts/library.h"
#include "headway/check/facts/python.h"
#include "headway/check/facts/resources.h"
#include "headway/core/clock.h"
#include "headway/core/fake_machine.h"

namespace headway {
namespace {

using headway::testing::FakeMachine;

TEST(AskProgram, GivesWhatItPrintsAndHowItEnds) {
  const Answer answer =
      ask_program({"sh", "-c", "echo out; echo $WORD >&2; exit 3"}, 10, {"WORD=err"});
  EXPECT_EQ(answer.trouble, "");
  EXPECT_EQ(answer.out, "out\n");
  EXPECT_EQ(answer.err, "err\n");
  EXPECT_EQ(answer.status, 3);
}

TEST(AskProgram, EndsOneThatDoesNotAndWhatItStarted) {
  const int64_t begin_ns = now_ns();
  const Answer answer = ask_program({"sh", "-c", "sleep 60 & exec sleep 60"}, 0.2);
  EXPECT_NE(answer.trouble.find("did not end"), std::string::npos) << answer.trouble;
  EXPECT_LT(now_ns() - begin_ns, int64_t{5'000'000'000});
}

TEST(AskProgram, NamesOneThatIsNotThereOrDied) {
  EXPECT_NE(ask_program({"no-such-program"}, 1).trouble.find("no-such-program"), std::string::npos);
  EXPECT_NE(ask_program({"sh", "-c", "kill -9 $$"}, 9).trouble.find("signal 9"), std::string::npos);
}

TEST(Packages, AreNamedAsPipNamesThem) {
  EXPECT_EQ(package_of("Foo.Bar_baz-1.2.dist-info").name, "foo-bar-baz");
  EXPECT_EQ(package_of("Foo.Bar_baz-1.2.dist-info").version, "1.2");
  EXPECT_EQ(package_of("torch-1.13.0a0+gitunknown.egg-info").version, "1.13.0a0+gitunknown");
  EXPECT_EQ(package_of("six-1.16-py3.11.egg-info").version, "1.16");
  EXPECT_EQ(package_of("torch").name, "");
}

TEST(Sources, ValuesAreReadWithAndWithoutTypes) {
  const std::string source =
      "from typing import Optional\n"
      "__version__ = '2.5.1+cu124'\n"
      "cuda: Optional[str] = '12.4'\n"
      "cuda_other = '1'\n"
      "hip: Optional[str] = None\n";
  EXPECT_EQ(value_in_source(source, "__version__"), "2.5.1+cu124");
  EXPECT_EQ(value_in_source(source, "cuda"), "12.4");
  EXPECT_EQ(value_in_source(source, "hip"), "");
  EXPECT_EQ(value_in_source(source, "xpu"), "");
}

TEST(Kernels, AreReadFromBothFrameworksLists) {
  InstalledFramework torch, tensorflow;
  read_kernels("sm_75 sm_80 sm_90a sm_120", torch);
  EXPECT_EQ(torch.kernels, (std::vector<int>{75, 80, 90, 120}));
  EXPECT_EQ(torch.ptx, 0);
  read_kernels("'sm_60', 'sm_89', 'compute_90'", tensorflow);
  EXPECT_EQ(tensorflow.kernels, (std::vector<int>{60, 89}));
  EXPECT_EQ(tensorflow.ptx, 90);
}

// A Python's folder with packages as pip leaves them.
class InstalledPackages {
 public:
  InstalledPackages() { python.folders = {machine.root}, python.version = "3.11.7"; }
  void set(const std::string& path, const std::string& text) { machine.set("/" + path, text); }
  void package(const std::string& name, const std::string& version) {
    python.packages[name] = version;
  }
  const InstalledFramework& only() {
    read_frameworks(python);
    EXPECT_EQ(python.frameworks.size(), 1u);
    return python.frameworks.at(0);
  }

  FakeMachine machine;
  PythonFacts python;
};

TEST(Frameworks, PyTorchSaysItsBuildInItsVersionAndItsRequirements) {
  InstalledPackages packages;
  packages.package("torch", "2.5.1");
  packages.set("torch/version.py", "__version__ = '2.5.1+cu124'\ncuda: Optional[str] = '12.4'\n");
  packages.set("torch-2.5.1.dist-info/METADATA",
               "Requires-Dist: nvidia-cudnn-cu12==9.1.0.70; platform_system == \"Linux\"\n");
  const InstalledFramework& torch = packages.only();
  EXPECT_EQ(torch.build, FrameworkBuild::kCuda);
  EXPECT_EQ(torch.version, "2.5.1+cu124");
  EXPECT_EQ(torch.cuda, "12.4");
  EXPECT_EQ(torch.cudnn, "9.1.0.70");
}

TEST(Frameworks, WithoutCudaItIsABuildForTheCpu) {
  InstalledPackages packages;
  packages.set("torch/version.py", "__version__ = '2.5.1+cpu'\ncuda: Optional[str] = None\n");
  EXPECT_EQ(packages.only().build, FrameworkBuild::kCpu);
}

TEST(Frameworks, TensorFlowSaysItsBuildInBuildInfo) {
  InstalledPackages packages;
  packages.package("tensorflow", "2.21.0");
  packages.set("tensorflow/python/platform/build_info.py",
               "build_info = collections.OrderedDict([('cuda_compute_capabilities', ['sm_80', "
               "'compute_90']), ('cuda_version', '12.5.1'), ('cudnn_version', '9'), "
               "('is_cuda_build', True), ('is_rocm_build', False)])\n");
  const InstalledFramework& tensorflow = packages.only();
  EXPECT_EQ(tensorflow.build, FrameworkBuild::kCuda);
  EXPECT_EQ(tensorflow.cuda, "12.5.1");
  EXPECT_EQ(tensorflow.cudnn, "9");
  EXPECT_EQ(tensorflow.kernels, (std::vector<int>{80}));
  EXPECT_EQ(tensorflow.ptx, 90);
}

TEST(Frameworks, JaxUsesAGpuByItsPlugin) {
  InstalledPackages packages;
  packages.package("jax", "0.9.2");
  packages.set("jax/__init__.py", "");
  EXPECT_EQ(packages.only().build, FrameworkBuild::kCpu);
  packages.python.frameworks.clear();
  packages.package("jax-cuda12-plugin", "0.9.2");
  EXPECT_EQ(packages.only().build, FrameworkBuild::kCuda);
}

TEST(Frameworks, AFolderThatWasLeftBehindIsNone) {
  InstalledPackages packages;
  packages.set("torch/cache.txt", "");
  read_frameworks(packages.python);
  EXPECT_TRUE(packages.python.frameworks.empty());
}

TEST(CudaLibraries, StandInTheOrderInWhichTheyAreFound) {
  InstalledPackages packages;
  packages.package("nvidia-cudnn-cu12", "9.1.0.70");
  packages.set("nvidia/cudnn/lib/libcudnn.so.9", "no library");
  packages.set("other/libcudnn.so.9", "no library");
  ::setenv("LD_LIBRARY_PATH", (packages.machine.root + "/other").c_str(), 1);
  const std::vector<CudaLibrary> found = find_cuda_libraries(packages.python);
  ::unsetenv("LD_LIBRARY_PATH");
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0].from, CudaLibrary::From::kPath);
  EXPECT_FALSE(found[0].is_library);
  EXPECT_EQ(found[1].from, CudaLibrary::From::kWheel);
  EXPECT_EQ(found[1].version, "9.1.0.70");
  EXPECT_EQ(version_in_name("libcudnn.so.9.1.0"), "9.1.0");
  EXPECT_EQ(version_in_name("libcudnn.so"), "");
}

TEST(Libraries, TheLoaderSaysWhatItWouldTake) {
  const LoaderAnswer answer = libraries_of("/proc/self/exe");
  if (answer.libraries.empty()) GTEST_SKIP() << "the loader cannot be asked: " << answer.trouble;
  bool libc = false;
  for (const LoadedLibrary& each : answer.libraries)
    libc |= each.name.starts_with("libc.so") && each.path.starts_with("/");
  EXPECT_TRUE(libc);
  EXPECT_NE(libraries_of("/no/such/file").trouble, "");
}

TEST(Libraries, AnotherLibraryIsNoBlas) {
  EXPECT_FALSE(blas_among({{"libm.so.6", "/lib/libm.so.6"}}, "NumPy"));
  EXPECT_FALSE(blas_among({{"libblas.so.3", ""}}, "NumPy"));  // not found
  EXPECT_EQ(is_reference_blas("/no/such/libblas.so.3"), std::nullopt);
}

TEST(Gpus, AreSeenOnTheBusWithoutTheirDriver) {
  FakeMachine machine;
  machine.set("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  machine.set("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  machine.set("/sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");  // its sound
  machine.set("/sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");
  machine.set("/dev/nvidiactl", "");
  machine.set(
      "/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n");
  GpuFacts facts = read_gpus(machine.root);
  EXPECT_EQ(facts.on_bus, 1);
  EXPECT_EQ(facts.kernel_module, "550.54.15");
  EXPECT_FALSE(facts.device_files);
  machine.set("/dev/nvidia0", "");
  EXPECT_TRUE(read_gpus(machine.root).device_files);
}

TEST(Resources, TheLimitOfTheGroupAndSwapAreRead) {
  FakeMachine machine;
  machine.set("/proc/meminfo",
              "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\nSwapTotal: 2000 kB\nSwapFree: 500 "
              "kB\n");
  machine.set("/proc/self/cgroup", "0::/job/step\n");
  machine.set("/sys/fs/cgroup/job/memory.max", "500000000\n");
  machine.set("/sys/fs/cgroup/job/memory.current", "100000000\n");
  machine.set("/sys/fs/cgroup/job/step/memory.max", "max\n");
  machine.set("/proc/1/cgroup", "0::/docker/1f2e\n");
  const MemoryFacts facts = read_memory(machine.root);
  EXPECT_EQ(facts.limit_bytes, 500000000);
  EXPECT_EQ(facts.available_bytes, 400000000);
  EXPECT_EQ(facts.swap_used_bytes, 1500 * 1024);
  EXPECT_TRUE(facts.container);
  EXPECT_FALSE(facts.shm_bytes);  // there is no /dev/shm
}

TEST(Resources, SettingsThatAreNoNumbersAreKeptApart) {
  ::setenv("OMP_NUM_THREADS", "many", 1);
  ::setenv("MKL_NUM_THREADS", "3", 1);
  const CoreFacts facts = read_cores();
  ::unsetenv("OMP_NUM_THREADS"), ::unsetenv("MKL_NUM_THREADS");
  EXPECT_EQ(facts.invalid.at("OMP_NUM_THREADS"), "many");
  ASSERT_EQ(facts.settings.size(), 1u);
  EXPECT_EQ(facts.settings[0].threads, 3);
}

TEST(Disk, WhatIsNotThereIsSaid) {
  EXPECT_FALSE(read_disk("/no/such/folder").there);
  EXPECT_TRUE(read_disk("/proc").there);
}

TEST(Disk, IsMeasuredWithAFileOfItsOwnThatIsRemoved) {
  FakeMachine folder;
  const DiskFacts disk = read_disk(folder.root);
  const int64_t begin_ns = now_ns();
  const DiskSpeed speed = measure_disk(disk, 0.2);
  EXPECT_LT(now_ns() - begin_ns, int64_t{10'000'000'000});
  EXPECT_TRUE(std::filesystem::is_empty(folder.root));
  if (disk.in_memory) GTEST_SKIP() << "temporary files lie in memory here";
  EXPECT_EQ(speed.trouble, "");
  EXPECT_GT(speed.large_bytes_per_s, 1e6);
  EXPECT_GT(speed.small_reads_per_s, 1);
  EXPECT_EQ(speed.files, 0);
}

TEST(Disk, TheUsersOwnFilesAreReadAndLeftAsTheyAre) {
  FakeMachine folder;
  for (int i = 0; i < 30; ++i)
    folder.set("/" + std::to_string(i), std::string(10'000, static_cast<char>('a' + i)));
  folder.set("/large", std::string(9 << 20, 'x'));
  const DiskFacts disk = read_disk(folder.root);
  if (disk.in_memory) GTEST_SKIP() << "temporary files lie in memory here";
  const DiskSpeed speed = measure_disk(disk, 0.1);
  EXPECT_EQ(speed.files, 31);
  EXPECT_GT(speed.large_bytes_per_s, 1e6);
  EXPECT_LT(speed.small_bytes, 65537);
}

}  // namespace
}  // namespace headway
