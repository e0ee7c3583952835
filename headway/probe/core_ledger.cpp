#include "headway/probe/core_ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/core/clock.h"
#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

constexpr size_t kLargestStat = 256 << 10;
constexpr double kLate = 0.6;

std::set<int> cores_of(pid_t pid) {
  return numbers_of_list(
      status_field(file_text(fmt::format("/proc/{}/status", pid)), "Cpus_allowed_list"));
}

}  // namespace

// Training has begun, or the first step is made: what follows is counted separately.
void CoreLedger::mark(const Stage& stage) {
  if (stage.trains != stage_.trains || stage.stepped != stage_.stepped)
    counts_.cut(stage.now_s, stage.steps, stage.trains);
  stage_ = stage;
}

void CoreLedger::look(const Stage& stage, Account account, DeviceState device) {
  mark(stage);
  counts_.look(account, device, stage.now_s);
}

void CoreLedger::read(const Stage& stage, const Used& used, const Neighbours::Own& own) {
  std::set<int> cores = cores_of(used.main);
  const CoreTimes now = core_times(file_text("/proc/stat", kLargestStat), cores);
  const double own_s = 1e-9 * double(process_cpu_ns());
  if (cores == cores_ && last_cpu_s_ >= 0) {
    const double cpu = std::max(0.0, used.cpu_s - last_cpu_s_);
    const double busy = now.busy_s - last_cores_.busy_s, idle = now.idle_s - last_cores_.idle_s;
    clocks_.cpu_s += cpu;
    clocks_.idle_s += std::max(0.0, idle);
    clocks_.neighbours_s += busy - cpu - (own_s - last_own_s_);
    clocks_.throttled_s += std::max(0.0, used.throttled_s - last_throttled_s_);
    if (busy + idle > 0) busy_ = kLate * busy_ + (1 - kLate) * busy / (busy + idle);
  }
  clocks_.ready_s += used.ready_s;
  clocks_.model_s += used.model_s;
  clocks_.main_cpu_s += used.main_cpu_s, clocks_.main_ready_s += used.main_ready_s;
  cores_ = std::move(cores), last_cores_ = now;
  last_cpu_s_ = used.cpu_s, last_own_s_ = own_s, last_throttled_s_ = used.throttled_s;
  mark(stage);
  counts_.read(stage.now_s, clocks_, stage.steps);
  neighbours_.look(stage.now_s, busy_, own);
}

void CoreLedger::put_into(Outside& out) const {
  out.ledger = counts_.blocks();
  out.neighbours = neighbours_.busiest();
  out.cpus_allowed = double(cores_.size());
}

}  // namespace headway
