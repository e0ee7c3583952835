#include "headway/data/autotune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "headway/core/clock.h"

namespace headway {
namespace {

constexpr int kMost = 128;
constexpr double kBlockedWorthIt = 0.15;         // share of busy time spent blocked
constexpr double kIdleShare = 0.8;               // below, workers lack work, not company
constexpr double kWaits = 0.05;                  // of the consumer's time, for it to miss something
constexpr int kGrowAfter = 3, kShrinkAfter = 5;  // ticks that agree
constexpr size_t kRemembered = 32;

struct SchedStat {
  int64_t cpu_ns = 0, runnable_ns = 0;
};

SchedStat read_schedstat(int tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
  SchedStat stat;
  if (std::FILE* file = std::fopen(path, "re")) {
    long long cpu = 0, runnable = 0;
    if (std::fscanf(file, "%lld %lld", &cpu, &runnable) == 2) stat = {cpu, runnable};
    std::fclose(file);
  }
  return stat;
}

}  // namespace

int wanted_threads(const WorkerTimes& times, double cpus, int most) {
  const double available = double(times.interval_ns) * times.workers;
  if (available <= 0 || times.busy_ns < kIdleShare * available) return times.workers;
  const double ready = double(times.cpu_ns + times.runnable_ns);  // running, or wanting to
  const double blocked = std::max(0.0, double(times.busy_ns) - ready) / double(times.busy_ns);
  const double used = double(times.cpu_ns) / double(times.interval_ns);  // cores
  const double wanted = ready / double(times.interval_ns);
  if (blocked > kBlockedWorthIt && used < 0.9 * cpus) {
    const double grow = std::min(2.0, cpus / std::max(used, 0.05 * cpus));
    return std::clamp(int(std::ceil(times.workers * grow)), times.workers, most);
  }
  // Only workers that do nothing but compute crowd each other out; cores that other programs take,
  // or the short queue of those that mostly wait, are no reason to have fewer.
  if (blocked < kBlockedWorthIt && used > 0.8 * cpus && wanted > 1.2 * cpus) {
    return std::clamp(int(std::ceil(times.workers * cpus / wanted)), 1, times.workers);
  }
  return times.workers;
}

Autotune::Autotune(WorkerPool& pool, Limits limits, std::optional<int> fixed_threads)
    : pool_(pool),
      limits_(std::move(limits)),
      fixed_(fixed_threads.has_value()),
      started_ns_(now_ns()) {
  const int whole = std::max(1, static_cast<int>(limits_.cpus));  // a quota is never passed
  first_ = fixed_threads.value_or(whole);
  most_ = std::max(kMost, whole);
  MutexLock lock(mu_);
  decide(fixed_ ? fmt::format("{} threads, as asked", first_)
                : fmt::format("{} thread{} to start with: {}", first_, first_ == 1 ? "" : "s",
                              limits_.cpu_source));
}

WorkerTimes Autotune::measure() {
  WorkerTimes now;
  const int64_t clock = now_ns();
  for (const Worker* worker : pool_.workers()) {
    const int tid = worker->tid.load();
    if (tid == 0) continue;
    const SchedStat stat = read_schedstat(tid);
    now.cpu_ns += stat.cpu_ns;
    now.runnable_ns += stat.runnable_ns;
    now.busy_ns += worker->busy_ns.load(std::memory_order_relaxed);
    // What is at work now counts up to now, or a long wait would show only when it is over.
    if (const int64_t since = worker->activity.snapshot().since_ns) now.busy_ns += clock - since;
  }
  WorkerTimes delta{clock - last_ns_, now.busy_ns - totals_.busy_ns, now.cpu_ns - totals_.cpu_ns,
                    now.runnable_ns - totals_.runnable_ns, pool_.threads()};
  const bool first = last_ns_ == 0;
  last_ns_ = clock;
  totals_ = now;
  if (first) delta.interval_ns = 0;
  return delta;
}

void Autotune::tick(int64_t consumer_away_ns) {
  if (fixed_) return;
  MutexLock lock(mu_);
  const WorkerTimes times = measure();
  const int64_t away = consumer_away_ns - std::exchange(last_away_ns_, consumer_away_ns);
  const bool waits = double(away) < (1 - kWaits) * double(times.interval_ns);
  const int wanted = wanted_threads(times, limits_.cpus, most_);
  const int have = times.workers;
  if (wanted > have && !waits) return;  // says nothing about the time when it does
  agreeing_ = wanted == have  ? 0
              : wanted > have ? std::max(agreeing_, 0) + 1
                              : std::min(agreeing_, 0) - 1;
  if (agreeing_ < kGrowAfter && agreeing_ > -kShrinkAfter) return;
  agreeing_ = 0;
  const double busy = double(times.busy_ns), interval = double(times.interval_ns);
  decide(fmt::format(
      "{} -> {} threads: {} used {:.1f} of {:.2g} cores and were blocked {:.0f}% of the time", have,
      wanted, have, double(times.cpu_ns) / interval, limits_.cpus,
      100 * std::max(0.0, busy - double(times.cpu_ns + times.runnable_ns)) / busy));
  pool_.set_threads(wanted);
}

void Autotune::decide(std::string text) {
  if (decisions_.size() == kRemembered) decisions_.erase(decisions_.begin() + 1);
  decisions_.push_back(fmt::format("{:5.1f} s  {}", double(now_ns() - started_ns_) * 1e-9, text));
}

std::vector<std::string> Autotune::decisions() const {
  MutexLock lock(mu_);
  return decisions_;
}

}  // namespace headway
