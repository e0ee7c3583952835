#pragma once

#include <memory>

#include "headway/core/buffer_pool.h"
#include "headway/data/options.h"
#include "headway/data/ram_budget.h"
#include "headway/data/skip_log.h"
#include "headway/data/worker_pool.h"
#include "headway/trace/recorder.h"

namespace headway {

// What the operators of one running pipeline share.
class Runtime {
 public:
  Runtime(Options options, int64_t ram_budget_bytes)
      : options(std::move(options)),
        ram(ram_budget_bytes),
        skip_log(this->options.errors.value_or(ErrorPolicy{})) {}

  uint64_t seed() const { return options.seed.value_or(0); }
  bool deterministic() const { return options.deterministic.value_or(true); }
  bool skips_errors() const { return skip_log.policy().skip; }

  const Options options;
  RamBudget ram;
  SkipLog skip_log;
  Recorder recorder;
  std::shared_ptr<BufferPool> buffers = BufferPool::create();
  WorkerPool pool;  // last: its threads end before what they use
};

}  // namespace headway
