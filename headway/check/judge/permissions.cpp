#include <fmt/format.h>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/say.h"

// What `headway run` and `headway attach` may see.
namespace headway {

void judge_permissions(const MachineFacts& facts, CheckLines& lines) {
  const PermissionFacts& permissions = facts.permissions;
  Say say(CheckTopic::kWatching, lines);
  if (permissions.perf_refused.empty()) {
    say.good("perf", "native code can be sampled (perf_event_open)");
  } else {
    say.doubtful(
        "perf", "native code cannot be sampled: " + permissions.perf_refused,
        {"`headway run` and `headway attach` then do not see which functions of a library use the "
         "cores; all else they see",
         "sudo sysctl kernel.perf_event_paranoid=2; in a container: docker run --cap-add PERFMON "
         "--security-opt seccomp=unconfined"});
  }
  if (!permissions.seen)
    return say.not_seen(
        "ptrace", "what this process may watch cannot be read (/proc/self/status)",
        {"`headway attach` may be refused", "see whether /proc is mounted: mount | grep proc"});
  if (permissions.may_ptrace || permissions.ptrace_scope == 0) {
    say.good("ptrace", "processes of this user can be watched (headway attach)");
    return;
  }
  say.doubtful("ptrace",
               fmt::format("kernel.yama.ptrace_scope is {}: a process that runs already cannot be "
                           "watched by this user",
                           permissions.ptrace_scope),
               {"`headway attach PID` is refused",
                permissions.ptrace_scope == 1
                    ? "start trainings with `headway run -- CMD`, which may always watch; or sudo "
                      "headway attach PID; or sudo sysctl kernel.yama.ptrace_scope=0"
                    : "sudo headway attach PID"});
}

}  // namespace headway
