#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "headway/trace/kinds.h"

namespace headway {

// The roles of a run's processes: which one trains, which work for it, which train beside it. A
// program that only starts others and waits for them (mp.spawn, torchrun) does not train.
struct RunProcess {
  pid_t pid = 0, parent = 0;
  bool python = false;
  bool trains = false;    // a step was seen on its main thread
  double launches_s = 0;  // how long it has only waited for processes it started
  double cores = 0;       // recently
  Role role = Role::kOther;
};

// `tree`: parents before their children. `current`: which one it was until now; 0: none.
pid_t who_trains(std::span<const RunProcess> tree, pid_t current);
void give_roles(std::span<RunProcess> tree, pid_t main);

}  // namespace headway
