#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "headway/trace/kinds.h"

namespace headway {

// Who is who among the processes of a run: which one trains, who works for it, who trains beside
// it. A program that only starts others and waits for them (mp.spawn, torchrun) does not train.
struct RunProcess {
  pid_t pid = 0, parent = 0;
  bool python = false;
  bool trains = false;    // a step was seen on its main thread
  double launches_s = 0;  // for so long it has only waited for those it started
  double cores = 0;       // of late
  Role role = Role::kOther;
};

// `tree`: parents before their children. `current`: who was it until now; 0: nobody.
pid_t who_trains(std::span<const RunProcess> tree, pid_t current);
void give_roles(std::span<RunProcess> tree, pid_t main);

}  // namespace headway
