#include "headway/doctor/run_summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

class Settings {
 public:
  // Several of one name stand together.
  void add(const char* name, const std::string& value) {
    if (value.empty()) return;
    const auto at = std::ranges::find(list_, name, &RunSetting::name);
    if (at == list_.end()) list_.push_back({name, value});
    else if (at->value != value) at->value += ", " + value;
  }
  // 0 or less: not known.
  void add(const char* name, int64_t value) {
    if (value > 0) add(name, fmt::format("{}", value));
  }
  void add(const char* name, double value) {
    if (value > 0) add(name, fmt::format("{:.4g}", value));
  }
  std::vector<RunSetting> take() { return std::move(list_); }

 private:
  std::vector<RunSetting> list_;
};

// "image_folder(photos) | decode_image | batch(64)"
std::string on_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string(" | ") : std::string(1, c);
  return out;
}

int64_t batch_size_of(const Trace& trace) {
  if (!trace.outside.seen) return trace.run.batch_size;
  return trace.outside.batch_size > 0 ? trace.outside.batch_size : trace.outside.written_batch_size;
}

void add_inside(Settings& out, const Trace& trace) {
  const RunFacts& run = trace.run;
  out.add("model", run.model);
  out.add("parameters", run.parameters);
  out.add("optimizer", run.optimizer);
  out.add("number type", std::string(text_of(run.products)));
  out.add("device", run.device);
  out.add("compute threads", run.compute_threads);
  out.add("input threads asked for", run.input_threads);
  out.add("input threads at the end",
          trace.samples.empty() ? 0 : trace.samples.back().feed_threads);
  out.add("steps per epoch", run.steps_per_epoch);
  out.add("callbacks", fmt::format("{}", fmt::join(run.callbacks, ", ")));
  out.add("dataset", on_one_line(run.dataset));
}

void add_outside(Settings& out, const Outside& seen) {
  out.add("command", seen.command);
  out.add("framework", std::string(text_of(seen.framework)));
  if (!seen.processes.empty()) out.add("Python", seen.processes[0].python);
  out.add("worker processes",
          int64_t(std::ranges::count(seen.processes, Role::kWorker, &SeenProcess::role)));
  out.add("learning rate", seen.learning_rate);
  for (const SeenThreadSetting& each : seen.settings) out.add("threads", each.text);
  for (const SeenGpu& gpu : seen.gpus)
    if (gpu.used) out.add("GPU", gpu.name);
}

std::vector<RunSetting> settings_of(const Trace& trace) {
  Settings out;
  out.add("batch size", batch_size_of(trace));
  if (trace.outside.seen) add_outside(out, trace.outside);
  else add_inside(out, trace);
  out.add("cores", trace.outside.seen ? trace.outside.cpus_allowed : trace.run.cpus);
  out.add("GPU", trace.run.gpu);
  return out.take();
}

}  // namespace

RunSummary summary_of(const Trace& trace, const Verdict& judged,
                      const std::vector<Finding>& findings) {
  const Ledger ledger(trace);
  RunSummary out{.state = judged.state,
                 .sentence = judged.sentence,
                 .batch_size = batch_size_of(trace),
                 .accounts = ledger.accounts(),
                 .settings = settings_of(trace)};
  for (const Finding& each : findings)
    out.causes.push_back({each.cause, each.severity, each.summary});
  if (const Estimate rate = ledger.steps_per_s(); rate.value > 0) out.steps_per_s = rate;
  return out;
}

}  // namespace headway
