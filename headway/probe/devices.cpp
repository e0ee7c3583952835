#include "headway/probe/devices.h"

#include <algorithm>

namespace headway {

void Devices::look_around(const std::set<int64_t>& pids, bool open) {
  if (!nvml_.there()) return;
  std::vector<SeenGpu> now = nvml_.read(pids);
  // In a container the driver may report other pids. A single GPU that is open and busy is ours.
  // Open alone says nothing: some frameworks open it when they are loaded.
  if (now.size() == 1 && open && now[0].recent > 0) now[0].used = true;
  for (size_t i = 0; i < now.size(); ++i) {
    if (i >= seen_.size()) continue;
    now[i].utilisation = seen_[i].utilisation, now[i].work = seen_[i].work;
    now[i].used |= seen_[i].used;
  }
  seen_ = std::move(now);
}

void Devices::look(Stage stage, double now_s) {
  const double seconds = now_s - looked_s_;
  looked_s_ = now_s, utilisation_ = -1;
  const bool begins = stage != stage_;  // what was before says nothing about its pace
  if (begins) samples_ = 0;
  stage_ = stage;
  ++samples_;
  counters_.memory_used = counters_.memory_bytes = 0;
  for (size_t i = 0; i < seen_.size(); ++i) {
    SeenGpu& gpu = seen_[i];
    if (!gpu.used) continue;
    const auto work = nvml_.work(i);
    if (begins) gpu.work = {};
    if (work && !begins) gpu.work = mean_of(gpu.work, *work);
    gpu.recent = nvml_.utilisation(i).value_or(gpu.recent);
    gpu.utilisation += (gpu.recent - gpu.utilisation) / double(samples_);
    utilisation_ = std::max(utilisation_, work ? work->busy : gpu.recent);
    gpu.memory_used = nvml_.memory_used(i).value_or(gpu.memory_used);
    counters_.memory_used += gpu.memory_used, counters_.memory_bytes += gpu.memory_bytes;
  }
  counters_.busy_s += std::max(0.0, utilisation_) * seconds;
}

bool Devices::used() const {
  return std::any_of(seen_.begin(), seen_.end(), [](const SeenGpu& gpu) { return gpu.used; });
}

DeviceState Devices::state(Account account) const {
  return utilisation_ < 0 ? DeviceState::kNone : device_state(utilisation_, account);
}

}  // namespace headway
