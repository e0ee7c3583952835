#include "headway/trace/recorder.h"

#include <algorithm>

namespace headway {

std::shared_ptr<StageCounters> Recorder::add_stage(std::string name, int depth,
                                                   const std::vector<std::string>& ops) {
  auto fits = [&](const auto& s) {
    return s->depth == depth && s->name == name && s->ops.size() == ops.size();
  };
  MutexLock lock(mu_);
  // Stages that come and go with the files of an interleave share one row, however many there are.
  if (auto it = std::find_if(stages_.begin(), stages_.end(), fits); it != stages_.end()) return *it;
  auto stage = std::make_shared<StageCounters>(std::move(name), depth);
  for (const std::string& op : ops) stage->ops.push_back(std::make_unique<OpCounters>(op));
  auto deeper = [](const auto& a, const auto& b) { return a->depth < b->depth; };
  stages_.insert(std::upper_bound(stages_.begin(), stages_.end(), stage, deeper), stage);
  return stage;
}

std::vector<std::shared_ptr<StageCounters>> Recorder::stages() const {
  MutexLock lock(mu_);
  return stages_;
}

}  // namespace headway
