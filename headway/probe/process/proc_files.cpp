#include "headway/probe/process/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <utility>

namespace headway {
namespace {

constexpr int64_t kKernelThread = 0x00200000;  // PF_KTHREAD
constexpr size_t kMostThreads = 4096;          // that are examined one by one
constexpr size_t kMostOpenThreads = 200;  // per process; beyond that files are opened each time

std::string read_again(int fd) {
  char buffer[1024];
  const ssize_t got = ::pread(fd, buffer, sizeof buffer, 0);
  return std::string(buffer, got > 0 ? static_cast<size_t>(got) : 0);
}

}  // namespace

std::string file_text(const std::string& path, size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::string out(limit, '\0');
  size_t have = 0;
  ssize_t got = 0;
  while (have < limit && (got = ::read(fd, out.data() + have, limit - have)) > 0)
    have += static_cast<size_t>(got);
  ::close(fd);
  out.resize(have);
  return out;
}

TaskStat parse_stat(const std::string& text) {
  TaskStat out;
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text.size())
    return out;
  out.name = text.substr(open + 1, close - open - 1);
  out.state = text[close + 2];
  std::istringstream rest(text.substr(close + 3));
  int64_t fields[25] = {};  // as numbered in proc(5), from 4 on
  for (int i = 4; i <= 24; ++i) rest >> fields[i];
  static const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  out.parent = static_cast<pid_t>(fields[4]);
  out.of_the_kernel = fields[9] & kKernelThread;
  out.cpu_s = (double(fields[14]) + double(fields[15])) / ticks;
  out.reaped_s = (double(fields[16]) + double(fields[17])) / ticks;
  out.threads = fields[20];
  out.started_ticks = static_cast<uint64_t>(fields[22]);
  out.started_s = double(fields[22]) / ticks;
  out.rss_bytes = fields[24] * sysconf(_SC_PAGESIZE);
  return out;
}

TaskStat stat_of(pid_t pid) {
  return parse_stat(file_text(fmt::format("/proc/{}/stat", pid), 1024));
}

// A process may call itself "Uid: 0", so a name only counts at the beginning of a line.
std::string status_field(const std::string& status, const std::string& name) {
  const std::string line = "\n" + name + ":";
  const size_t at = status.find(line);
  if (at == std::string::npos) return "";
  const size_t end = status.find('\n', at + 1);
  const size_t from = std::min(status.find_first_not_of(" \t", at + line.size()), end);
  return from == std::string::npos ? "" : status.substr(from, end - from);
}

std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return out;
  while (const dirent* entry = ::readdir(entries.get())) {
    const pid_t number = static_cast<pid_t>(std::atoi(entry->d_name));
    if (number > 0) out.push_back(number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<pid_t> threads_of(const std::string& folder) {
  std::vector<pid_t> out = numbers_in(folder);
  if (out.size() > kMostThreads) out.resize(kMostThreads);
  return out;
}

ThreadCounters::~ThreadCounters() {
  for (auto& [tid, files] : files_) close_all(files);
}

void ThreadCounters::close_all(Files& files) {
  if (files.stat >= 0) ::close(files.stat);
  if (files.schedstat >= 0) ::close(files.schedstat);
  files = {};
}

std::vector<ThreadCounters::Thread> ThreadCounters::read() {
  std::vector<Thread> out;
  const std::string folder = fmt::format("{}/{}/task", proc_, pid_);
  for (const pid_t tid : threads_of(folder)) {
    const std::string task = fmt::format("{}/{}", folder, tid);
    std::string stat, sched;
    if (files_.count(tid) || files_.size() < kMostOpenThreads) {
      Files& files = files_[tid];
      if (files.stat < 0) {
        files.stat = ::open((task + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
        files.schedstat = ::open((task + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
      }
      files.seen = true;
      stat = read_again(files.stat), sched = read_again(files.schedstat);
    } else {
      stat = file_text(task + "/stat", 1024), sched = file_text(task + "/schedstat", 256);
    }
    const TaskStat parsed = parse_stat(stat);
    if (parsed.state == '?') continue;
    Thread& thread = out.emplace_back();
    thread.tid = tid, thread.name = parsed.name, thread.state = parsed.state;
    char* rest = nullptr;
    thread.cpu_s = 1e-9 * std::strtod(sched.c_str(), &rest);  // more exact than the ticks in stat
    thread.ready_s = 1e-9 * std::strtod(rest, nullptr);
    if (sched.empty()) thread.cpu_s = parsed.cpu_s;
  }
  for (auto it = files_.begin(); it != files_.end();) {
    if (std::exchange(it->second.seen, false)) {
      ++it;
    } else {
      close_all(it->second);
      it = files_.erase(it);
    }
  }
  return out;
}

std::vector<std::string> command_line(pid_t pid) {
  std::vector<std::string> out;
  std::istringstream text(file_text(fmt::format("/proc/{}/cmdline", pid)));
  for (std::string word; std::getline(text, word, '\0');) out.push_back(word);
  return out;
}

std::vector<pid_t> process_tree(pid_t root, size_t limit) {
  std::vector<pid_t> out = {root};
  for (size_t i = 0; i < out.size() && out.size() < limit; ++i) {
    for (const pid_t tid : threads_of(fmt::format("/proc/{}/task", out[i]))) {
      std::istringstream children(
          file_text(fmt::format("/proc/{}/task/{}/children", out[i], tid), 16384));
      for (pid_t child = 0; children >> child && out.size() < limit;) out.push_back(child);
    }
  }
  return out;
}

pid_t number_inside(pid_t pid, pid_t tid) {
  std::istringstream numbers(
      status_field(file_text(fmt::format("/proc/{}/task/{}/status", pid, tid)), "NSpid"));
  pid_t last = tid;
  for (pid_t number = 0; numbers >> number;) last = number;
  return last;
}

}  // namespace headway
