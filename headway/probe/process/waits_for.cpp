#include "headway/probe/process/waits_for.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "headway/probe/process/proc_files.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kLargestTable = 4 << 20;
constexpr size_t kMostProcesses = 64, kMostDescriptors = 512;

// Calls `take` with the words of each line, until it returns that it has found something.
template <typename F>
void each_line(std::string_view text, F&& take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::istringstream line{std::string(text.substr(0, end))};
    std::vector<std::string> words;
    for (std::string word; words.size() < 16 && line >> word;) words.push_back(word);
    if (take(words)) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

uint64_t inode_of(const std::string& link) {  // "socket:[123]"
  const size_t open = link.find('[');
  return open == std::string::npos ? 0 : std::strtoull(link.c_str() + open + 1, nullptr, 10);
}

// "0100007F:1F90": words of four bytes in the machine's byte order.
std::string address_text(const std::string& hex, int& port) {
  const size_t colon = hex.find(':');
  if (colon != 8 && colon != 32) return "";
  port = static_cast<int>(std::strtol(hex.c_str() + colon + 1, nullptr, 16));
  uint32_t words[4] = {};
  for (size_t i = 0; i < colon / 8; ++i)
    words[i] = static_cast<uint32_t>(std::strtoul(hex.substr(8 * i, 8).c_str(), nullptr, 16));
  char out[INET6_ADDRSTRLEN] = {};
  const int family = colon == 8 ? AF_INET : AF_INET6;
  return inet_ntop(family, words, out, sizeof out) ? out : "";
}

std::string process_text(pid_t pid, const WaitQuestion& question) {
  const auto found = question.tree->find(pid);
  const std::string name =
      found != question.tree->end() ? found->second : redact(stat_of(pid).name);
  return name.empty() ? fmt::format("process {}", pid) : fmt::format("process {} ({})", pid, name);
}

std::string socket_text(pid_t pid, const std::string& link) {
  const uint64_t inode = inode_of(link);
  if (inode == 0) return "";
  for (const char* table : {"tcp", "tcp6"}) {
    const std::string text = file_text(fmt::format("/proc/{}/net/{}", pid, table), kLargestTable);
    if (const auto peer = peer_in(text, inode)) return *peer;
  }
  const std::string text = file_text(fmt::format("/proc/{}/net/unix", pid), kLargestTable);
  const auto name = unix_name_in(text, inode);
  if (!name) return "";
  return name->empty() ? kSocketPair : redact_path(*name);
}

// The process of the run that has the other end of the pipe, whichever end that is.
std::string pipe_text(const std::string& link, const WaitQuestion& question) {
  size_t looked = 0;
  for (const auto& [pid, name] : *question.tree) {
    if (pid == question.pid) continue;
    if (++looked > kMostProcesses) break;
    size_t descriptors = 0;
    for (const pid_t fd : numbers_in(fmt::format("/proc/{}/fd", pid))) {
      if (++descriptors > kMostDescriptors) break;
      if (link_target(fmt::format("/proc/{}/fd/{}", pid, fd)) == link)
        return process_text(pid, question);
    }
  }
  return "";
}

std::string lock_text(const std::string& path, const WaitQuestion& question) {
  const std::string file = redact_path(path);
  const pid_t holder = holder_in(file_text("/proc/locks", kLargestTable), question.pid);
  return holder > 0 ? fmt::format("{}, held by {}", file, process_text(holder, question)) : file;
}

std::string child_text(const WaitQuestion& question) {
  if (question.call.number == SYS_wait4) {
    const auto asked = static_cast<pid_t>(question.call.arguments[0]);
    if (asked > 0 && question.tree->count(asked)) return process_text(asked, question);
  }
  if (question.call.number == SYS_waitid) {
    const auto asked = static_cast<pid_t>(question.call.arguments[1]);
    if (asked > 0 && question.tree->count(asked)) return process_text(asked, question);
  }
  for (const auto& [pid, name] : *question.tree)
    if (stat_of(pid).parent == question.pid) return process_text(pid, question);
  return "";
}

}  // namespace

std::optional<std::string> peer_in(std::string_view table, uint64_t inode) {
  std::optional<std::string> out;
  const std::string wanted = std::to_string(inode);
  each_line(table, [&](const std::vector<std::string>& words) {
    if (words.size() < 10 || words[9] != wanted) return false;
    int local_port = 0, port = 0;
    address_text(words[1], local_port);
    const std::string address = address_text(words[2], port);
    if (port == 0) out = fmt::format("connections to port {}", local_port);
    else
      out = words[2].size() > 13 ? fmt::format("[{}]:{}", address, port)
                                 : fmt::format("{}:{}", address, port);
    return true;
  });
  return out;
}

std::optional<std::string> unix_name_in(std::string_view table, uint64_t inode) {
  std::optional<std::string> out;
  const std::string wanted = std::to_string(inode);
  each_line(table, [&](const std::vector<std::string>& words) {
    if (words.size() < 7 || words[6] != wanted) return false;
    out = words.size() > 7 ? words[7] : "";
    return true;
  });
  return out;
}

// "3: FLOCK  ADVISORY  WRITE 812 08:01:42 0 EOF", "3: -> FLOCK  ADVISORY  WRITE 900 08:01:42 0 EOF"
pid_t holder_in(std::string_view locks, pid_t waiter) {
  pid_t holder = 0, found = 0;
  each_line(locks, [&](const std::vector<std::string>& words) {
    if (words.size() < 6) return false;
    if (words[1] != "->") {
      holder = std::atoi(words[4].c_str());
    } else if (std::atoi(words[5].c_str()) == waiter) {
      found = holder;
      return true;
    }
    return false;
  });
  return found;
}

std::string waits_for(const WaitQuestion& question) {
  if (question.wait == Wait::kChild) return child_text(question);
  if (question.descriptors.empty()) return "";
  std::string out;
  for (const int fd : question.descriptors) {
    const std::string link = link_target(fmt::format("/proc/{}/fd/{}", question.pid, fd));
    if (question.wait == Wait::kSocket && link.starts_with("socket:"))
      out = socket_text(question.pid, link);
    if (question.wait == Wait::kPipe && link.starts_with("pipe:")) out = pipe_text(link, question);
    if (question.wait == Wait::kFileLock) out = lock_text(link, question);
    if (question.wait == Wait::kTerminal && link.starts_with("/dev/")) out = redact_path(link);
    if (!out.empty()) return out;
  }
  return out;
}

}  // namespace headway
