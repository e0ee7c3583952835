#include "headway/observe/feed_watch.h"

#include <thread>
#include <utility>

#include "headway/core/limits.h"

namespace headway {
RunFacts facts_of_feed(const Dataset& dataset) {
  const Limits limits = read_limits();
  return {.cpus = limits.cpus,
          .cpu_source = limits.cpu_source,
          .cpu_quota = limits.cpu_quota,
          .machine_cores = std::thread::hardware_concurrency(),
          .input_threads = dataset.options().threads.value_or(0),
          .dataset = dataset.describe(),
          .operators = dataset.operators()};
}

int64_t samples_in(const Element& batch) {
  return batch.empty() || batch.fields()[0].value.rank() == 0 ? 1 : batch.fields()[0].value.dim(0);
}

bool FeedWatch::look(TraceReading& reading, std::vector<StageFacts>& stages) const {
  reading.batches = earlier_.batches;
  reading.skipped = earlier_.skipped;
  reading.stages = earlier_.stages;
  reading.feed_threads = earlier_.feed_threads;  // so that it is still known at the end of a run
  if (!pipeline_) return false;
  const PipelineStats stats = pipeline_->stats();
  const bool changed = stats.stages != stages;  // stages are added while a pipeline starts
  if (changed) stages = stats.stages;
  reading.batches += stats.taken;
  reading.skipped += stats.skipped;
  reading.feed_threads = stats.threads;
  reading.feed_ram_bytes = stats.ram_used_bytes;
  reading.buffer_held = stats.buffer_held;
  reading.buffer_wanted = stats.buffer_wanted;
  reading.stages = stats.done;
  if (earlier_.stages.size() == stats.done.size()) {
    for (size_t i = 0; i < stats.done.size(); ++i) {
      reading.stages[i] = stats.done[i].plus(earlier_.stages[i]);
    }
  }
  return changed;
}

void FeedWatch::follow(const Pipeline* pipeline, TraceReading so_far) {
  earlier_ = std::move(so_far);
  pipeline_ = pipeline;
}

}  // namespace headway
