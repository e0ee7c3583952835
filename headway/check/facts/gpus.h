#pragma once

#include <string>

#include "headway/check/facts.h"

namespace headway {

// `root` stands for "/" and lets tests bring their own /proc, /sys and /dev; NVML is asked itself.
GpuFacts read_gpus(const std::string& root = "");

}  // namespace headway
