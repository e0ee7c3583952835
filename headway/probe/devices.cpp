#include "headway/probe/devices.h"

#include <algorithm>

namespace headway {

void Devices::look_around(const std::set<int64_t>& pids, bool open) {
  if (!nvml_.there()) return;
  std::vector<SeenGpu> now = nvml_.read(pids);
  // In a container the driver may tell other numbers of processes: one GPU, open and at work, is
  // ours. Open alone says nothing: some frameworks open it when they are loaded.
  if (now.size() == 1 && open && now[0].recent > 0) now[0].used = true;
  for (size_t i = 0; i < now.size(); ++i) {
    if (i >= seen_.size()) continue;
    now[i].utilisation = seen_[i].utilisation;
    now[i].used |= seen_[i].used;
  }
  seen_ = std::move(now);
}

void Devices::look(bool training) {
  utilisation_ = -1;
  if (training && !training_) samples_ = 0;  // what was before tells nothing of its pace
  training_ = training;
  ++samples_;
  for (size_t i = 0; i < seen_.size(); ++i) {
    SeenGpu& gpu = seen_[i];
    if (!gpu.used) continue;
    gpu.recent = nvml_.utilisation(i).value_or(gpu.recent);
    gpu.utilisation += (gpu.recent - gpu.utilisation) / double(samples_);
    utilisation_ = std::max(utilisation_, gpu.recent);
  }
}

DeviceState Devices::state(Account account) const {
  return utilisation_ < 0 ? DeviceState::kNone : device_state(utilisation_, account);
}

}  // namespace headway
