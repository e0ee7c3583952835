#pragma once

#include "headway/doctor/diagnose.h"

// For tests: what the outside eye would have seen of simulated runs.
namespace headway {

inline SeenFrame users(int64_t line, const char* function, const char* text) {
  return {"train.py", function, line, true, text};
}
inline SeenFrame library(const char* file, const char* function) {
  return {file, function, 1, false, ""};
}

// A run of 20 s with these stacks of the training thread and of other threads.
inline Trace watched(std::vector<SeenStack> stacks) {
  Trace trace;
  trace.run.cpus = 4;
  trace.run.machine_cores = 4;
  Outside& seen = trace.outside;
  seen.seen = true;
  seen.at_s = 20;
  seen.framework = Framework::kTorch;
  seen.training_since_s = 2;
  seen.progress = {.source = ProgressSource::kOutput,
                   .steps = 100,
                   .first_step_s = 2,
                   .last_step_s = 20,
                   .step_s = 0.2};
  // Counted as the looks of 18 seconds would be.
  for (int i = 0; i < 18; ++i) {
    LedgerBlock& block = seen.ledger.emplace_back();
    block.at_s = 2 + i, block.seconds = 1, block.training = true;
    for (const SeenStack& s : stacks)
      if (s.process == Role::kMain && s.main_thread)
        block.entries.push_back({s.account, DeviceState::kNone, s.samples / 18});
  }
  seen.stacks = std::move(stacks);
  seen.processes = {{.pid = 1,
                     .role = Role::kMain,
                     .name = "python",
                     .state = TaskState::kRunning,
                     .cores = 1,
                     .python = "3.11"}};
  seen.cores = 1;
  return trace;
}

inline SeenStack stack(Activity activity, Wait wait, std::vector<SeenFrame> frames, int64_t samples,
                       Maker maker = Maker::kNone) {
  return {.process = Role::kMain,
          .main_thread = true,
          .activity = activity,
          .maker = maker,
          .wait = wait,
          .account = activity == Activity::kStep       ? Account::kComputes
                     : activity == Activity::kFetch    ? Account::kWaitsForData
                     : activity == Activity::kPipeline ? Account::kWaitsForData
                     : activity == Activity::kProduce  ? Account::kMakesData
                                                       : Account::kRunsOwnCode,
          .training = true,
          .frames = std::move(frames),
          .samples = samples,
          .recent = samples};
}

inline std::string first_cause(const Trace& trace) {
  const auto findings = diagnose(trace);
  return findings.empty() ? "none" : findings[0].id();
}

inline SeenStack training(int64_t samples) {
  return stack(
      Activity::kStep, Wait::kNothing,
      {library("torch/nn/modules/module.py", "Module._call_impl"), users(9, "main", "y = net(x)")},
      samples);
}

inline SeenStack loading_inline(int64_t samples) {
  return stack(
      Activity::kProduce, Wait::kNothing,
      {library("PIL/Image.py", "Image.resize"),
       users(5, "Cats.__getitem__", "im = Image.open(p).resize(s)"),
       library("torch/utils/data/_utils/fetch.py", "fetch"),
       library("torch/utils/data/dataloader.py", "__next__"), users(8, "main", "for x in loader:")},
      samples, Maker::kTorchInline);
}

}  // namespace headway
