#include "headway/probe/process/candidates.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "headway/core/text.h"
#include "headway/probe/process/proc_files.h"
#include "headway/probe/process/surroundings.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr unsigned kLookUs = 200'000;

bool is_python(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const std::string name = words[0].substr(words[0].rfind('/') + 1);
  return name.starts_with("python") || name.starts_with("ipython") || name.starts_with("torchrun");
}

}  // namespace

std::vector<Candidate> training_candidates() {
  std::map<pid_t, TaskStat> python;
  for (const pid_t pid : numbers_in("/proc"))
    if (pid != ::getpid() && is_python(command_line(pid)))
      python[pid] = parse_stat(file_text(fmt::format("/proc/{}/stat", pid), 1024));
  ::usleep(kLookUs);
  std::vector<Candidate> out;
  for (const auto& [pid, before] : python) {
    if (python.count(before.parent)) continue;  // a worker of another candidate
    const TaskStat now = parse_stat(file_text(fmt::format("/proc/{}/stat", pid), 1024));
    const double cores = (now.cpu_s - before.cpu_s) / (1e-6 * kLookUs);
    const bool framework = look_around(pid).framework != Framework::kNone;
    if (now.state == '?' || now.state == 'Z' || (!framework && cores < 0.3)) continue;
    out.push_back({pid, cores, size_text(double(now.rss_bytes)), command_text(command_line(pid))});
  }
  std::sort(out.begin(), out.end(),
            [](const Candidate& a, const Candidate& b) { return a.cores > b.cores; });
  return out;
}

std::string json_of(const std::vector<Candidate>& candidates) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Candidate& each : candidates)
    list.push_back({{"pid", each.pid},
                    {"cores", each.cores},
                    {"memory", each.memory},
                    {"command", each.command}});
  return nlohmann::ordered_json{{"processes", list}}.dump(
      -1, ' ', /*ensure_ascii=*/true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace headway
