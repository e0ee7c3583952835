#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headway/probe/process/waits.h"

namespace headway {

// Asks what a thread waits for; used when it has stood still for a while.
struct WaitQuestion {
  pid_t pid = 0;
  SystemCall call{};
  Wait wait = Wait::kNothing;
  std::vector<int> descriptors{};
  const std::map<pid_t, std::string>* tree = nullptr;  // the run's processes and their names
};
inline constexpr const char* kSocketPair = "a socket pair";
// "10.0.0.7:443", "data/train.lock, held by process 812", "process 12 (ffmpeg)"; empty: not known.
std::string waits_for(const WaitQuestion& question);

// The other end of a socket, from /proc/PID/net/tcp, tcp6: "10.0.0.7:443"; "connections to port
// 8080" for a listening one; nothing if it is not listed.
std::optional<std::string> peer_in(std::string_view table, uint64_t inode);
// From /proc/PID/net/unix: its name, "" for a socket pair without a name.
std::optional<std::string> unix_name_in(std::string_view table, uint64_t inode);
// The process that holds the lock this process waits for, from /proc/locks; 0: not listed.
pid_t holder_in(std::string_view locks, pid_t waiter);

}  // namespace headway
