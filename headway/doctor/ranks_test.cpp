#include <gtest/gtest.h>

#include "headway/doctor/simulate_looks.h"

namespace headway {
namespace {

// Two processes that train; this many of 300 looks at each found it waiting for the other.
Trace ranks(int64_t main_waits, int64_t other_waits) {
  Trace trace = watched({training(300)});
  SeenProcess& main = trace.outside.processes[0];
  main.looks = 300, main.waits_for_ranks = main_waits;
  SeenProcess other = main;
  other.pid = 2, other.role = Role::kRank, other.waits_for_ranks = other_waits;
  trace.outside.processes.push_back(other);
  return trace;
}

TEST(Ranks, OneThatAllOthersWaitForIsNamed) {
  EXPECT_EQ(first_cause(ranks(200, 10)), "straggler");
  EXPECT_EQ(first_cause(ranks(10, 200)), "straggler");
  EXPECT_EQ(first_cause(ranks(40, 60)), "none");
}

TEST(Ranks, ThatAllExchangeMostOfTheTimeAreCommunicationBound) {
  EXPECT_EQ(first_cause(ranks(200, 180)), "communication-bound");
}

TEST(Ranks, OneThatIsGoneWhileOthersStandInACollectiveIsLost) {
  Trace trace = ranks(100, 100);
  Outside& seen = trace.outside;
  seen.stacks = {stack(Activity::kCollective, Wait::kPoll,
                       {library("torch/distributed/distributed_c10d.py", "all_reduce"),
                        users(9, "main", "dist.all_reduce(loss)")},
                       300)};
  seen.main_still_s = seen.quiet_s = 12;
  seen.cores = seen.processes[0].cores = 0;
  EXPECT_EQ(first_cause(trace), "mismatched-collective");
  seen.processes[1].state = TaskState::kGone;
  EXPECT_EQ(first_cause(trace), "rank-lost");
}

}  // namespace
}  // namespace headway
