#include "headway/probe/process/thread_settings.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

using namespace std::string_literals;

TEST(ThreadSettings, OfAnEnvironmentOnlyThoseAreKept) {
  const auto found = settings_in_environment(
      "PASSWORD=hunter2\0OMP_NUM_THREADS=1\0MKL_NUM_THREADS=many\0MY_OMP_NUM_THREADS=3\0"
      "XLA_FLAGS=--xla_dump_to=/secret --xla_cpu_multi_thread_eigen=false "
      "intra_op_parallelism_threads=2\0broken"s);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text, "OMP_NUM_THREADS=1");
  EXPECT_EQ(found[0].threads, 1);
  EXPECT_EQ(found[1].text, "XLA_FLAGS=intra_op_parallelism_threads=2");
  EXPECT_EQ(found[2].text, "XLA_FLAGS=--xla_cpu_multi_thread_eigen=false");
  EXPECT_EQ(found[2].threads, 1);
}

TEST(ThreadSettings, ALineOfPythonSetsThem) {
  EXPECT_EQ(setting_in_line("    torch.set_num_threads(1)").text, "torch.set_num_threads(1)");
  EXPECT_EQ(setting_in_line("tf.config.threading.set_intra_op_parallelism_threads(2)").threads, 2);
  EXPECT_EQ(setting_in_line("with threadpool_limits(limits=1, user_api='blas'):").threads, 1);
  EXPECT_EQ(setting_in_line("os.environ[\"OMP_NUM_THREADS\"] = \"1\"").text, "OMP_NUM_THREADS=1");
  EXPECT_EQ(setting_in_line("os.environ.setdefault('MKL_NUM_THREADS', '4')").threads, 4);
  EXPECT_EQ(setting_in_line("tf.config.threading.set_inter_op_parallelism_threads(num_threads=3)")
                .threads,
            3);
}

TEST(ThreadSettings, WhatIsNoNumberOrNoSettingIsNone) {
  EXPECT_EQ(setting_in_line("torch.set_num_threads(args.threads)").threads, 0);
  EXPECT_EQ(setting_in_line("torch.set_num_threads(2 * cores)").threads, 0);
  EXPECT_EQ(setting_in_line("torch.set_num_threads(8*n)").threads, 0);
  EXPECT_EQ(setting_in_line("# torch.set_num_threads(1)").threads, 0);
  EXPECT_EQ(setting_in_line("my_torch.set_num_threads_of(1)").threads, 0);
  EXPECT_EQ(setting_in_line("print('OMP_NUM_THREADS', 1)").threads, 0);
}

}  // namespace
}  // namespace headway
