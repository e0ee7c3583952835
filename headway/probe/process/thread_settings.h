#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// What sets how many threads compute. Only numbers of known names are kept: a program's environment
// and code hold what is nobody's business.

// Of an environment as /proc/PID/environ gives it: "OMP_NUM_THREADS=1", "XLA_FLAGS=...=false".
std::vector<SeenThreadSetting> settings_in_environment(std::string_view environment);
std::vector<SeenThreadSetting> environment_settings_of(pid_t pid);

// Of one line of Python: "torch.set_num_threads(1)". Nothing (threads 0) when there is none, or
// when the number is not written there.
struct SettingCall {
  std::string text{};
  int64_t threads = 0;
};
SettingCall setting_in_line(std::string_view line);

}  // namespace headway
