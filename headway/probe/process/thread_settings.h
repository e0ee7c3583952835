#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// Settings of how many threads compute. Only numbers with known names are kept, because a program's
// environment and code contain private data.

// From an environment, in the format of /proc/PID/environ: "OMP_NUM_THREADS=1", "XLA_FLAGS=...".
std::vector<SeenThreadSetting> settings_in_environment(std::string_view environment);
std::vector<SeenThreadSetting> environment_settings_of(pid_t pid);

// From one line of Python: "torch.set_num_threads(1)". Nothing (threads 0) if there is none, or if
// the number is not written in that line.
struct SettingCall {
  std::string text{};
  int64_t threads = 0;
};
SettingCall setting_in_line(std::string_view line);

}  // namespace headway
