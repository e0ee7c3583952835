#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

namespace headway {
namespace {

namespace fs = std::filesystem;

// A CPU cgroup of half a core, version 2 or 1, whichever the machine lets us make.
class HalfACore {
 public:
  HalfACore() {
    const std::string name = "/headway-test-" + std::to_string(getpid());
    make("/sys/fs/cgroup" + name, "cpu.max", "50000 100000");
    if (!made()) make("/sys/fs/cgroup/cpu" + name, "cpu.cfs_quota_us", "50000");
  }
  ~HalfACore() {
    std::error_code ignored;
    if (made()) fs::remove(folder_, ignored);
  }
  bool made() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }

 private:
  void make(const std::string& folder, const std::string& file, const std::string& value) {
    std::error_code error;
    if (!fs::exists(fs::path(folder).parent_path() / file) &&
        !fs::exists(fs::path(folder).parent_path() / "cgroup.controllers")) {
      return;
    }
    if (!fs::create_directory(folder, error) || error) return;
    std::ofstream out(folder + "/" + file);
    if (out << value << std::flush) {
      folder_ = folder;
    } else {
      fs::remove(folder, error);
    }
  }
  std::string folder_;
};

TEST(Quota, OfHalfACoreIsSeenAndGetsOneWorker) {
  const HalfACore group;
  if (!group.made()) GTEST_SKIP() << "no CPU cgroup can be made here (read-only, or not root)";
  const std::string command =
      "sh -c 'echo $$ > " + group.folder() + "/cgroup.procs && exec " FEEDER " . 0 limits'";
  std::FILE* pipe = popen(command.c_str(), "r");
  double cpus = 0;
  int workers = 0;
  ASSERT_EQ(std::fscanf(pipe, "%lf %d", &cpus, &workers), 2);
  pclose(pipe);
  EXPECT_DOUBLE_EQ(cpus, 0.5);
  EXPECT_EQ(workers, 1);
}

}  // namespace
}  // namespace headway
