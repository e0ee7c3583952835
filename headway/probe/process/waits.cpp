#include "headway/probe/process/waits.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

constexpr size_t kMostDescriptors = 16;  // examined for one call
constexpr size_t kLargestSet = 1024 / 8;
constexpr uint64_t kLargestDescriptor = 1'000'000;
constexpr long kOfdSetLockAndWait = 38;  // F_OFD_SETLKW

bool is_poll(long number) { return number == SYS_poll || number == SYS_ppoll; }
bool is_select(long number) { return number == SYS_select || number == SYS_pselect6; }
bool is_epoll(long number) { return number == SYS_epoll_wait || number == SYS_epoll_pwait; }

bool waits_for_a_lock(const SystemCall& call) {
  const long asked = static_cast<long>(call.arguments[1]);
  return call.number == SYS_flock ||
         (call.number == SYS_fcntl && (asked == F_SETLKW || asked == kOfdSetLockAndWait));
}

bool reads_or_writes(long number) {
  switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev: return true;
    default: return false;
  }
}

bool is_on_a_socket(long number) {
  switch (number) {
    case SYS_connect:
    case SYS_accept:
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg: return true;
    default: return false;
  }
}

Wait kind_of_file(const std::string& file) {
  if (file.starts_with("pipe:")) return Wait::kPipe;
  if (file.starts_with("socket:")) return Wait::kSocket;
  if (file.starts_with("/dev/pts/") || file.starts_with("/dev/tty") || file == "/dev/console")
    return Wait::kTerminal;
  return file.starts_with("anon_inode:") ? Wait::kPoll : Wait::kDisk;
}

// Several descriptors: their kind if all are of one kind. An event of the process's own (eventfd,
// timerfd) says nothing.
Wait kind_of_all(const std::vector<std::string>& files) {
  std::optional<Wait> kind;
  for (const std::string& file : files) {
    const Wait each = kind_of_file(file);
    if (each == Wait::kPoll) continue;
    if (each == Wait::kDisk || (kind && *kind != each)) return Wait::kPoll;
    kind = each;
  }
  return kind.value_or(Wait::kPoll);
}

void add_polled(const SystemCall& call, const MemoryReader& memory, std::vector<int>& out) {
  pollfd polled[kMostDescriptors];
  const size_t count = static_cast<size_t>(std::min<uint64_t>(call.arguments[1], kMostDescriptors));
  if (count == 0 || !memory.read(call.arguments[0], polled, count * sizeof(pollfd))) return;
  for (size_t i = 0; i < count; ++i)
    if (polled[i].fd >= 0) out.push_back(polled[i].fd);
}

void add_selected(const SystemCall& call, const MemoryReader& memory, std::vector<int>& out) {
  const uint64_t highest = std::min<uint64_t>(call.arguments[0], 8 * kLargestSet);
  const size_t bytes = static_cast<size_t>((highest + 63) / 64 * 8);
  for (size_t i = 1; i <= 3; ++i) {
    unsigned char set[kLargestSet] = {};
    if (call.arguments[i] == 0 || !memory.read(call.arguments[i], set, bytes)) continue;
    for (const int fd : members_of(set, bytes)) out.push_back(fd);
  }
}

}  // namespace

std::string link_target(const std::string& path) {
  char buffer[PATH_MAX];
  const ssize_t got = ::readlink(path.c_str(), buffer, sizeof buffer);
  return std::string(buffer, got > 0 ? static_cast<size_t>(got) : 0);
}

std::optional<SystemCall> parse_system_call(const std::string& text) {
  SystemCall out;
  const char* at = text.c_str();
  char* end = nullptr;
  out.number = std::strtol(at, &end, 10);
  if (end == at || out.number < 0) return std::nullopt;  // "running", or in no system call
  for (uint64_t& argument : out.arguments) {
    at = end;
    argument = std::strtoull(at, &end, 16);
  }
  return out;
}

std::vector<int> watched_by_epoll(std::string_view fdinfo) {
  std::vector<int> out;
  for (size_t at = fdinfo.find("tfd:");
       at != std::string_view::npos && out.size() < kMostDescriptors;
       at = fdinfo.find("tfd:", at + 1)) {
    const std::string number(fdinfo.substr(at + 4, 16));
    out.push_back(std::atoi(number.c_str()));
  }
  return out;
}

std::vector<int> members_of(const unsigned char* set, size_t bytes) {
  std::vector<int> out;
  for (size_t i = 0; i < 8 * bytes && out.size() < kMostDescriptors; ++i)
    if (set[i / 8] & (1u << (i % 8))) out.push_back(static_cast<int>(i));
  return out;
}

std::vector<int> descriptors_of(pid_t pid, const SystemCall& call, const MemoryReader& memory) {
  std::vector<int> out;
  if (reads_or_writes(call.number) || is_on_a_socket(call.number) || waits_for_a_lock(call)) {
    if (call.arguments[0] < kLargestDescriptor) out.push_back(static_cast<int>(call.arguments[0]));
  } else if (is_poll(call.number)) {
    add_polled(call, memory, out);
  } else if (is_select(call.number)) {
    add_selected(call, memory, out);
  } else if (is_epoll(call.number) && call.arguments[0] < kLargestDescriptor) {
    out = watched_by_epoll(file_text(fmt::format("/proc/{}/fdinfo/{}", pid, call.arguments[0])));
  }
  return out;
}

Wait wait_kind(const std::optional<SystemCall>& call, const std::vector<std::string>& files) {
  if (!call) return Wait::kNothing;
  const long number = call->number;
  if (is_on_a_socket(number)) return Wait::kSocket;
  if (waits_for_a_lock(*call)) return Wait::kFileLock;
  // Without descriptors they sleep: time.sleep() did so before Python 3.11.
  if (is_poll(number)) return call->arguments[1] == 0 ? Wait::kSleep : kind_of_all(files);
  if (is_select(number)) return call->arguments[0] == 0 ? Wait::kSleep : kind_of_all(files);
  if (is_epoll(number)) return kind_of_all(files);
  if (reads_or_writes(number)) {
    const Wait kind = files.empty() ? Wait::kDisk : kind_of_file(files[0]);
    return kind == Wait::kPoll ? Wait::kLock : kind;  // one of its own threads wakes it
  }
  switch (number) {
    case SYS_futex: return Wait::kLock;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return Wait::kSleep;
    case SYS_wait4:
    case SYS_waitid: return Wait::kChild;
    case SYS_openat:
    case SYS_open:
    case SYS_newfstatat:
    case SYS_stat:
    case SYS_statx:
    case SYS_getdents64: return Wait::kOpen;
    case SYS_fsync:
    case SYS_fdatasync: return Wait::kDisk;
    default: return Wait::kOther;
  }
}

}  // namespace headway
