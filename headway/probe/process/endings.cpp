#include "headway/probe/process/endings.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>

#include "headway/probe/process/proc_files.h"

namespace headway {

std::string ending_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

int wait_status_of(pid_t pid) {
  const std::string whole = file_text(fmt::format("/proc/{}/stat", pid), 1024);
  const size_t code = whole.find_last_of(' ');
  return code == std::string::npos ? 0 : std::atoi(whole.c_str() + code + 1);
}

}  // namespace headway
