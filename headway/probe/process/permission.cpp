#include "headway/probe/process/permission.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

constexpr uint64_t kPtraceCapability = 1ull << 19;  // CAP_SYS_PTRACE

bool has_ptrace(const std::string& status) {
  return std::strtoull(status_field(status, "CapEff").c_str(), nullptr, 16) & kPtraceCapability;
}

// EFAULT: the kernel allowed the read, but nothing is at that address.
bool let_in(pid_t pid) {
  char byte = 0;
  iovec here{&byte, 1}, there{nullptr, 1};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT;
}

}  // namespace

std::string why_not_readable(pid_t pid) {
  if (let_in(pid)) return "";
  const std::string status = file_text(fmt::format("/proc/{}/status", pid));
  const TaskStat stat = stat_of(pid);
  if (status.empty() || stat.state == '?') return "the process is gone";
  if (!stat.alive())
    return fmt::format("process {} has ended; it is kept until its parent, process {}, asks how",
                       pid, stat.parent);
  if (stat.of_the_kernel)
    return fmt::format("process {} ({}) is a thread of the kernel: it runs no program", pid,
                       stat.name);
  const std::string command = fmt::format("sudo headway attach {}", pid);
  const auto owner = static_cast<uid_t>(std::atoi(status_field(status, "Uid").c_str()));
  if (has_ptrace(file_text("/proc/self/status")))
    return fmt::format(
        "the kernel refused although CAP_SYS_PTRACE is there: a seccomp filter, or a user "
        "namespace that is not ours; run headway on the host, as root: {}",
        command);
  if (owner != geteuid())
    return fmt::format(
        "the process is of user {}, and we are user {}: run headway as that user or as root ({}), "
        "or give it CAP_SYS_PTRACE (in a container: --cap-add SYS_PTRACE)",
        owner, geteuid(), command);
  const int yama = std::atoi(file_text("/proc/sys/kernel/yama/ptrace_scope", 16).c_str());
  if (yama == 1)
    return fmt::format(
        "kernel.yama.ptrace_scope is 1: only a process's own parent may read it. `headway run -- "
        "CMD` always may; else {}, or `sudo sysctl kernel.yama.ptrace_scope=0` until the next boot",
        command);
  if (yama == 2)
    return fmt::format("kernel.yama.ptrace_scope is 2: it takes CAP_SYS_PTRACE: {}", command);
  if (yama >= 3)
    return "kernel.yama.ptrace_scope is 3: nobody may read another process until the next boot";
  return fmt::format(
      "the process may not be dumped (it changed its user, or its program file is not readable): "
      "{}",
      command);
}

}  // namespace headway
