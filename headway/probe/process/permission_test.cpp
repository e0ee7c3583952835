#include "headway/probe/process/permission.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headway {
namespace {

TEST(Permission, WhatMayBeReadNeedsNoReason) { EXPECT_EQ(why_not_readable(getpid()), ""); }

TEST(Permission, AProcessOfAnotherUserIsNamedWithWhatWouldAllowIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const pid_t roots = getpid();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(1);
    const std::string why = why_not_readable(roots);
    _exit(write(ends[1], why.data(), why.size()) == static_cast<ssize_t>(why.size()) ? 0 : 1);
  }
  close(ends[1]);
  char said[1024] = {};
  EXPECT_GT(read(ends[0], said, sizeof said - 1), 0);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_NE(std::string(said).find("user 0"), std::string::npos) << said;
  EXPECT_NE(std::string(said).find("CAP_SYS_PTRACE"), std::string::npos) << said;
}

TEST(Permission, AProcessThatIsGoneIsGone) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(why_not_readable(child), "the process is gone");
}

}  // namespace
}  // namespace headway
