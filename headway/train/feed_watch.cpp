#include "headway/train/feed_watch.h"

#include <algorithm>
#include <utility>

namespace headway {
namespace {

void add_stage(StageSample& to, const StageSample& more) {
  to.in += more.in;
  to.out += more.out;
  to.dropped += more.dropped;
  to.bytes_out += more.bytes_out;
  to.busy_s += more.busy_s;
  to.input_s += more.input_s;
  to.waits_for_input += more.waits_for_input;
  to.waits_for_room += more.waits_for_room;
  for (size_t i = 0; i < std::min(to.op_busy_s.size(), more.op_busy_s.size()); ++i) {
    to.op_busy_s[i] += more.op_busy_s[i];
  }
}

StageFacts facts_of(const StageStats& stage) {
  StageFacts facts{.name = stage.name, .depth = stage.depth};
  for (const OpStats& op : stage.ops) facts.ops.push_back(op.name);
  return facts;
}

StageSample sample_of(const StageStats& stage) {
  StageSample out{.in = stage.elements_in,
                  .out = stage.elements_out,
                  .dropped = stage.dropped,
                  .bytes_out = stage.bytes_out,
                  .busy_s = stage.busy_s,
                  .input_s = stage.input_s,
                  .waits_for_input = stage.waits_for_input,
                  .waits_for_room = stage.waits_for_room,
                  .queue_fill = stage.queue_fill,
                  .queue_capacity = stage.queue_capacity};
  for (const OpStats& op : stage.ops) out.op_busy_s.push_back(1e-9 * op.busy_ns);
  return out;
}

}  // namespace

bool FeedWatch::look(TraceSample& sample, std::vector<StageFacts>& stages) const {
  sample.batches = earlier_.batches;
  sample.skipped = earlier_.skipped;
  sample.stages = earlier_.stages;
  sample.feed_threads = earlier_.feed_threads;  // so that the end of a run still tells
  if (!pipeline_) return false;
  const PipelineStats stats = pipeline_->stats();
  std::vector<StageFacts> facts;
  for (const StageStats& stage : stats.stages) facts.push_back(facts_of(stage));
  const bool changed = facts != stages;  // they come while a pipeline starts
  if (changed) stages = std::move(facts);
  sample.batches += stats.taken;
  sample.skipped += stats.skipped;
  sample.feed_threads = stats.threads;
  sample.feed_ram_bytes = stats.ram_used_bytes;
  sample.buffer_held = stats.buffer_held;
  sample.buffer_wanted = stats.buffer_wanted;
  sample.stages.clear();
  for (size_t i = 0; i < stats.stages.size(); ++i) {
    StageSample stage = sample_of(stats.stages[i]);
    if (earlier_.stages.size() == stats.stages.size()) add_stage(stage, earlier_.stages[i]);
    sample.stages.push_back(std::move(stage));
  }
  return changed;
}

void FeedWatch::follow(const Pipeline* pipeline, TraceSample so_far) {
  earlier_ = std::move(so_far);
  pipeline_ = pipeline;
}

}  // namespace headway
