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

// The call that a thread stands in, from /proc/PID/task/TID/syscall; none when it runs.
struct SystemCall {
  long number = -1;
  uint64_t arguments[6] = {};
};
std::optional<SystemCall> parse_system_call(const std::string& text);

// Which descriptors the call waits for, a few of them at most. What poll() and select() were given
// is read from the target's memory, what epoll watches from its fdinfo.
std::vector<int> descriptors_of(pid_t pid, const SystemCall& call, const MemoryReader& memory);

// What it waits for. `files`: what those descriptors point to, as /proc/PID/fd/N says.
Wait wait_kind(const std::optional<SystemCall>& call, const std::vector<std::string>& files);

// What /proc/PID/fdinfo/N of an epoll lists.
std::vector<int> watched_by_epoll(std::string_view fdinfo);
// The members of an fd_set.
std::vector<int> members_of(const unsigned char* set, size_t bytes);

std::string link_target(const std::string& path);

}  // namespace headway
