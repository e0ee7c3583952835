#include "headway/core/thread_limit.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "headway/core/error.h"
#include "headway/core/under_sanitizer.h"

namespace headway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What require_threads(count) says in a process of its own, behind `limit`.
std::string said_behind(const std::function<bool()>& limit, int count) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said = "nothing";
    if (!limit()) {
      said = "refused";
    } else {
      try {
        require_threads(count, "training");
      } catch (const Error& e) {
        said = e.what();
      }
    }
    (void)!::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return said;
}

bool limit_to(__rlimit_resource which, rlim_t value) {
  const rlimit limit{value, value};
  return ::setrlimit(which, &limit) == 0;
}

TEST(ThreadLimit, SaysNothingWhereThreadsCanBeStarted) {
  EXPECT_NO_THROW(require_threads(40, "training"));
}

TEST(ThreadLimit, OfProcessesIsNamed) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to become a user without processes";
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer has threads of its own";
  const auto lonely = [] {  // root itself has no such limit
    return limit_to(RLIMIT_NPROC, 4) && ::setgroups(0, nullptr) == 0 && ::setuid(64999) == 0;
  };
  EXPECT_THAT(said_behind(lonely, 12),
              AllOf(HasSubstr("training needs 12 threads, and only 3 can be started"),
                    HasSubstr("ulimit -u is 4"), HasSubstr("ulimit -u 1")));
}

TEST(ThreadLimit, OfAddressesIsNamed) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer needs all addresses";
  const auto narrow = [] {
    return limit_to(RLIMIT_STACK, 8 << 20) && limit_to(RLIMIT_AS, 100 << 20);
  };
  EXPECT_THAT(said_behind(narrow, 60),
              AllOf(HasSubstr("ulimit -v is 100 MB"), HasSubstr("ulimit -v unlimited")));
}

}  // namespace
}  // namespace headway
