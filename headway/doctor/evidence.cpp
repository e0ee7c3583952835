#include "headway/doctor/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

constexpr int64_t kWarmUpSteps = 3;

// Where the steady part begins: after the warm-up, and in the later half of the run if enough is
// left there. Then a first epoch that fills a cache is over, and a later slowdown is not diluted.
TraceReading first_steady(const Trace& trace) {
  if (trace.samples.empty()) return {};
  const TraceReading& last = trace.samples.back();
  const TraceReading* first = &last;
  for (size_t i = trace.samples.size(); i-- > 0;) {
    const TraceReading& sample = trace.samples[i];
    if (sample.steps < kWarmUpSteps) break;
    first = &sample;
    const bool enough =
        last.steps - sample.steps >= 2 * kMinSteps && last.at_s - sample.at_s >= 2 * kMinSeconds;
    if (enough && sample.at_s <= last.at_s / 2) break;
  }
  return *first;
}

int64_t elements(const TraceReading& sample) {
  int64_t sum = sample.batches;
  for (const StageReading& stage : sample.stages) sum += stage.in + stage.out + stage.dropped;
  return sum;
}

// The training thread's own time: all phases except waiting for data.
double own_of(const StepTimes& times) {
  return times.total() - times[StepPhase::kValidation] - times[StepPhase::kCheckpoint] -
         times[StepPhase::kWaitForData];
}

}  // namespace

Evidence::Evidence(const Trace& t)
    : trace(t),
      run(t.run),
      first(first_steady(t)),
      last(t.samples.empty() ? TraceReading{} : t.samples.back()),
      seconds(last.at_s - first.at_s),
      steps(last.steps - first.steps) {
  look_at_the_end();
}

void Evidence::look_at_the_end() {
  if (trace.ended() || trace.samples.empty()) return;
  const TraceReading* since = &trace.samples.back();
  for (size_t i = trace.samples.size(); i-- > 0;) {
    if (trace.samples[i].steps != last.steps || trace.samples[i].batches != last.batches) break;
    since = &trace.samples[i];
  }
  quiet_s_ = last.at_s - since->at_s;
  feed_moves_ = elements(last) != elements(*since) || last.buffer_held != since->buffer_held;
  if (quiet_s_ > 0) quiet_cores_ = (last.system.cpu_s - since->system.cpu_s) / quiet_s_;
  // Long work of its own that still uses a core is not a standstill.
  constexpr RunPhase kWork[] = {RunPhase::kBuilding,   RunPhase::kProbing,    RunPhase::kFirstStep,
                                RunPhase::kValidation, RunPhase::kCheckpoint, RunPhase::kFinishing};
  const bool works = quiet_cores_ >= kStillCores &&
                     std::find(std::begin(kWork), std::end(kWork), last.phase) != std::end(kWork);
  // A consumer may stay away as long as it likes.
  if (works || last.phase == RunPhase::kConsuming) quiet_s_ = 0;
  if (steps > 0) stuck_after_s_ = std::max(kStuckS, kStuckSteps * step_s());
}

double Evidence::step_s() const {
  return steps > 0 ? own_s() + spent_s(StepPhase::kWaitForData) / double(steps) : 0;
}

double Evidence::own_s() const {
  return steps > 0 ? (own_of(last.times) - own_of(first.times)) / double(steps) : 0;
}

double Evidence::cores_used() const {
  return seconds > 0 ? (last.system.cpu_s - first.system.cpu_s) / seconds : 0;
}

double Evidence::cores_to_be_had() const {
  const double idle = last.system.idle_s - first.system.idle_s;
  if (last.system.idle_s == 0 || seconds <= 0) return cpus();
  return std::clamp(cores_used() + idle / seconds, std::min(1.0, cpus()), cpus());
}

bool Evidence::cores_full() const { return cores_used() >= 0.85 * cores_to_be_had(); }
bool Evidence::cores_idle() const { return cores_used() < 0.65 * cores_to_be_had(); }

double Evidence::cpu_per_step_s() const {
  return steps > 0 ? (last.system.cpu_s - first.system.cpu_s) / double(steps) : 0;
}

std::optional<double> Evidence::gpu_busy() const {
  if (last.gpu.busy_s == 0 || seconds <= 0) return std::nullopt;
  return (last.gpu.busy_s - first.gpu.busy_s) / seconds;
}

double Evidence::io_stalled_share() const {
  return seconds > 0 ? (last.system.io_some_s - first.system.io_some_s) / seconds : 0;
}

double Evidence::disk_bytes_per_s() const {
  return seconds > 0 ? double(last.system.disk_bytes - first.system.disk_bytes) / seconds : 0;
}

double Evidence::read_bytes_per_element() const {
  const auto elements = double(last.samples - first.samples);
  return elements > 0 ? double(last.system.read_bytes - first.system.read_bytes) / elements : 0;
}

double Evidence::own_cpu_s() const {
  return own_alone_s() * std::min(std::max<double>(1, double(run.compute_threads)), cpus());
}

FeedDemand Evidence::feed() const {
  FeedDemand out;
  out.threads = std::max<double>(1, double(last.feed_threads));
  if (steps <= 0) return out;
  int64_t in = 0, dropped = 0;
  for (size_t i = 0; i < last.stages.size(); ++i) {
    const StageReading& now = last.stages[i];
    const StageReading before = i < first.stages.size() ? first.stages[i] : StageReading{};
    const double busy = (now.busy_s - before.busy_s) / double(steps);
    const double serial = (now.input_s - before.input_s) / double(steps);
    out.work_s += busy + serial;
    in += now.in - before.in;
    dropped += now.dropped - before.dropped;
    if (serial > out.serial_s) out.serial_s = serial, out.serial_at = i;
    const StageFacts facts = i < trace.stages.size() ? trace.stages[i] : StageFacts{};
    for (size_t k = 0; k < now.op_busy_s.size() && k < facts.ops.size(); ++k) {
      const double earlier = k < before.op_busy_s.size() ? before.op_busy_s[k] : 0;
      const double spent = (now.op_busy_s[k] - earlier) / double(steps);
      if (spent <= out.op_s) continue;
      out.op_s = spent, out.op = facts.ops[k].name, out.op_stage = facts.name;
      out.op_facts = facts.ops[k], out.op_at = i;
    }
  }
  out.dropped_share = in > 0 ? double(dropped) / double(in) : 0;
  return out;
}

double Evidence::predicted_step_s(double feed_s, double cpu_s) const {
  return std::max({own_alone_s(), feed_s, cpu_s / cores_to_be_had()});
}

std::optional<std::string> Evidence::note(NoteKind kind) const {
  for (size_t i = trace.notes.size(); i-- > 0;)
    if (trace.notes[i].kind == kind) return trace.notes[i].text;
  return std::nullopt;
}

std::vector<Stretch> stretches(const Trace& trace, int64_t count, bool warm_up) {
  std::vector<Stretch> out;
  if (trace.samples.empty()) return out;
  const TraceReading zero;
  const TraceReading* from = &zero;
  if (!warm_up) {
    const auto begun = std::find_if(trace.samples.begin(), trace.samples.end(),
                                    [](const auto& s) { return s.steps >= kWarmUpSteps; });
    if (begun == trace.samples.end()) return out;
    from = &*begun;
  }
  const int64_t each = std::max<int64_t>(1, (trace.samples.back().steps - from->steps) / count);
  for (const TraceReading& to : trace.samples) {
    const int64_t steps = to.steps - from->steps;
    if (steps < each) continue;
    Stretch& s = out.emplace_back();
    s.steps = double(steps);
    s.step = double(from->steps + to.steps) / 2;
    s.own_s = (own_of(to.times) - own_of(from->times)) / s.steps;
    s.cpu_s = (to.system.cpu_s - from->system.cpu_s) / s.steps;
    s.queued_s = (to.system.run_queue_wait_s - from->system.run_queue_wait_s) / s.steps;
    s.losses = double(to.losses - from->losses);
    if (s.losses > 0) {
      s.loss = (to.loss_sum - from->loss_sum) / s.losses;
      const double square = (to.loss_square_sum - from->loss_square_sum) / s.losses;
      s.loss_deviation = std::sqrt(std::max(0.0, square - s.loss * s.loss));
    }
    s.rss_bytes = double(to.system.rss_bytes - to.feed_ram_bytes);
    s.at_s = to.at_s;
    from = &to;
  }
  return out;
}

Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = double(x.size());
  if (x.size() < 3) return {};
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  if (xx == 0) return {};
  Line line;
  line.slope = xy / xx;
  line.at = my - line.slope * mx;
  const double rest = std::max(0.0, yy - line.slope * xy);
  line.noise = std::sqrt(rest / (n - 2) / xx);
  line.r2 = yy > 0 ? 1 - rest / yy : 0;
  return line;
}

}  // namespace headway
