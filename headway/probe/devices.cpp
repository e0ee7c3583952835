#include "headway/probe/devices.h"

#include <algorithm>

namespace headway {

void Devices::look_around(const std::set<int64_t>& pids, bool open) {
  if (!nvml_.there()) return;
  std::vector<SeenGpu> now = nvml_.read(pids);
  // In a container the driver tells other numbers of processes: with one GPU there is no doubt.
  if (now.size() == 1 && open) now[0].used = true;
  ++samples_;
  for (size_t i = 0; i < now.size(); ++i) {
    const bool before = i < seen_.size();
    const double mean = before ? seen_[i].utilisation : now[i].recent;
    now[i].utilisation = mean + (now[i].recent - mean) / double(samples_);
    now[i].used |= before && seen_[i].used;
  }
  seen_ = std::move(now);
}

void Devices::look() {
  utilisation_ = -1;
  for (size_t i = 0; i < seen_.size(); ++i) {
    if (!seen_[i].used) continue;
    seen_[i].recent = nvml_.utilisation(i).value_or(seen_[i].recent);
    utilisation_ = std::max(utilisation_, seen_[i].recent);
  }
}

DeviceState Devices::state(Account account) const {
  return utilisation_ < 0 ? DeviceState::kNone : device_state(utilisation_, account);
}

}  // namespace headway
