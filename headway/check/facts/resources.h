#pragma once

#include <string>

#include "headway/check/facts.h"

namespace headway {

// What the kernel gives this process. `root` stands for "/" and lets tests bring their own /proc,
// /sys and /dev/shm; affinity and ulimits are always this process's own.
CoreFacts read_cores(const std::string& root = "");
MemoryFacts read_memory(const std::string& root = "");
PermissionFacts read_permissions();

}  // namespace headway
