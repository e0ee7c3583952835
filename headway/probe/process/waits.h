#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headway/probe/process/memory_reader.h"
#include "headway/trace/kinds.h"

namespace headway {

// The system call that a thread is in, from /proc/PID/task/TID/syscall; none when it runs.
struct SystemCall {
  long number = -1;
  uint64_t arguments[6] = {};
};
std::optional<SystemCall> parse_system_call(const std::string& text);

// The descriptors that the call waits for, at most a few. The arguments of poll() and select() are
// read from the target's memory, what epoll watches from its fdinfo.
std::vector<int> descriptors_of(pid_t pid, const SystemCall& call, const MemoryReader& memory);

// What it waits for. `files`: what those descriptors refer to, from /proc/PID/fd/N.
Wait wait_kind(const std::optional<SystemCall>& call, const std::vector<std::string>& files);

// The descriptors listed in /proc/PID/fdinfo/N of an epoll.
std::vector<int> watched_by_epoll(std::string_view fdinfo);
// The members of an fd_set.
std::vector<int> members_of(const unsigned char* set, size_t bytes);

std::string link_target(const std::string& path);

}  // namespace headway
