#include "headway/probe/roles.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

// A shell (1) that runs Python (2), which started two others (3, 4); the first has a worker (5).
std::vector<RunProcess> launched() {
  return {{.pid = 1, .parent = 0},
          {.pid = 2, .parent = 1, .python = true, .launches_s = 20},
          {.pid = 3, .parent = 2, .python = true},
          {.pid = 4, .parent = 2, .python = true},
          {.pid = 5, .parent = 3, .python = true}};
}

TEST(Roles, TheFirstPythonTrainsUntilMoreIsKnown) {
  auto tree = launched();
  tree[1].launches_s = 0;
  tree[2].trains = true;  // a search that computes in its workers, for instance
  EXPECT_EQ(who_trains(tree, 0), 2);
}

TEST(Roles, WhoOnlyWaitsForThoseItStartedDoesNotTrain) {
  auto tree = launched();
  EXPECT_EQ(who_trains(tree, 2), 2);  // no other process does anything yet
  tree[3].trains = true;
  EXPECT_EQ(who_trains(tree, 2), 4);
  tree[2].trains = true;
  EXPECT_EQ(who_trains(tree, 2), 3);
  EXPECT_EQ(who_trains(tree, 4), 4);  // a process that trains keeps its role
}

TEST(Roles, WithoutAFrameworkTheOneThatComputesIsTaken) {
  auto tree = launched();
  tree[3].cores = 0.9;
  EXPECT_EQ(who_trains(tree, 2), 4);
}

TEST(Roles, RanksTrainBesideAndWorkersWorkFor) {
  auto tree = launched();
  tree[2].trains = tree[3].trains = true;
  give_roles(tree, 3);
  const Role kExpected[] = {Role::kOther, Role::kOther, Role::kMain, Role::kRank, Role::kWorker};
  for (size_t i = 0; i < tree.size(); ++i) EXPECT_EQ(tree[i].role, kExpected[i]) << tree[i].pid;
}

TEST(Roles, WhenTheOneThatTrainedIsGoneAnotherIsTaken) {
  auto tree = launched();
  tree.erase(tree.begin() + 2);
  tree[2].trains = true;
  EXPECT_EQ(who_trains(tree, 3), 4);
}

}  // namespace
}  // namespace headway
