#include "headway/trace/recorder.h"

#include <algorithm>

namespace headway {

StageReading StageCounters::sample() const {
  StageReading out{.in = elements_in,
                   .out = elements_out,
                   .dropped = dropped,
                   .bytes_out = bytes_out,
                   .busy_s = 1e-9 * double(busy_ns),
                   .input_s = 1e-9 * double(input_ns),
                   .waits_for_input = waits_for_input,
                   .waits_for_room = waits_for_room,
                   .queue_fill = queue_fill,
                   .queue_capacity = queue_capacity};
  for (const OpCounters& op : ops) {
    const auto timed = double(op.timed);
    out.op_busy_s.push_back(timed > 0 ? 1e-9 * double(op.busy_ns) / timed * double(out.in) : 0);
  }
  return out;
}

std::shared_ptr<StageCounters> Recorder::add_stage(StageFacts facts) {
  auto fits = [&](const auto& s) {
    return s->facts.depth == facts.depth && s->facts.name == facts.name &&
           s->facts.ops.size() == facts.ops.size();
  };
  MutexLock lock(mu_);
  // Stages that come and go with the files of an interleave share one entry, however many exist.
  if (auto it = std::find_if(stages_.begin(), stages_.end(), fits); it != stages_.end()) return *it;
  auto stage = std::make_shared<StageCounters>(std::move(facts));
  auto deeper = [](const auto& a, const auto& b) { return a->facts.depth < b->facts.depth; };
  stages_.insert(std::upper_bound(stages_.begin(), stages_.end(), stage, deeper), stage);
  return stage;
}

std::vector<std::shared_ptr<StageCounters>> Recorder::stages() const {
  MutexLock lock(mu_);
  return stages_;
}

}  // namespace headway
