#include "headway/view/boxes.h"

#include <algorithm>

#include "headway/doctor/evidence.h"
#include "headway/doctor/finding.h"

namespace headway {
namespace {

constexpr double kWaitsForData = 0.10;  // of the time: then the feed sets the pace

struct Window {
  TraceReading first;
  const TraceReading& last;

  double seconds() const { return last.at_s - first.at_s; }
  StageReading before(size_t i) const {
    return i < first.stages.size() ? first.stages[i] : StageReading{};
  }
};

TraceReading beginning(const Trace& trace, const Evidence& e, double window_s) {
  const double since = e.last.at_s - window_s;
  TraceReading first = e.first;
  if (window_s > 0) {
    for (const TraceReading& sample : trace.samples)
      if (sample.at_s <= since) first = sample;
  }
  return first.at_s < e.last.at_s ? first : TraceReading{};
}

Box stage_box(const Trace& trace, const Window& w, size_t i) {
  const StageFacts& facts = trace.stages[i];
  const StageReading& now = w.last.stages[i];
  const StageReading before = w.before(i);
  const bool deepest = i + 1 == trace.stages.size();
  const double workers =
      double(facts.max_workers > 0 ? std::min(facts.max_workers, w.last.feed_threads)
                                   : w.last.feed_threads);
  const double busy = now.busy_s - before.busy_s;
  // In the deepest stage, pulling is the source's work; elsewhere it is that of a serial operator.
  const double serial = deepest ? 0 : now.input_s - before.input_s;
  Box box{.name = facts.name,
          .per_second = double(now.out - before.out) / w.seconds(),
          .queue_fill = now.queue_fill,
          .queue_capacity = now.queue_capacity,
          .dropped = now.dropped};
  const double shared = (busy + serial) / (w.seconds() * std::max(1.0, workers));
  box.utilisation = std::clamp(std::max(shared, serial / w.seconds()), 0.0, 1.0);
  for (size_t k = 0; k < facts.ops.size() && k < now.op_busy_s.size() && busy > 0; ++k) {
    const double earlier = k < before.op_busy_s.size() ? before.op_busy_s[k] : 0;
    box.ops.emplace_back(facts.ops[k].name, std::min(1.0, (now.op_busy_s[k] - earlier) / busy));
  }
  return box;
}

// The first operator, and the operators after it that only one worker at a time may run.
std::string source_name(const std::vector<OpFacts>& operators) {
  std::string name;
  for (const OpFacts& op : operators)
    if (name.empty() || op.serial) name += (name.empty() ? "" : "+") + op.name;
  return name.empty() ? "source" : name;
}

Box source_box(const Trace& trace, const Window& w) {
  Box box{.kind = Box::Kind::kSource, .name = source_name(trace.run.operators)};
  if (trace.stages.empty() || w.last.stages.size() < trace.stages.size()) return box;
  const size_t deepest = trace.stages.size() - 1;
  const StageReading &now = w.last.stages[deepest], before = w.before(deepest);
  box.per_second = double(now.in - before.in) / w.seconds();
  box.utilisation = std::clamp((now.input_s - before.input_s) / w.seconds(), 0.0, 1.0);
  return box;
}

Box training_box(const Window& w) {
  const auto working = [](const StepTimes& t) { return t.total() - t[StepPhase::kWaitForData]; };
  Box box{.kind = Box::Kind::kTraining, .name = "training"};
  box.per_second = double(w.last.steps - w.first.steps) / w.seconds();
  box.utilisation =
      std::clamp((working(w.last.times) - working(w.first.times)) / w.seconds(), 0.0, 1.0);
  return box;
}

// The box that a finding names; else the busiest of those that the others wait for.
Box* hottest(std::vector<Box>& boxes, const Evidence& e, const std::vector<Finding>& findings) {
  Box& training = boxes.back();
  const bool named = has_problem(findings);
  if (named && findings[0].stage && *findings[0].stage + 2 < boxes.size()) {
    return &boxes[boxes.size() - 2 - *findings[0].stage];  // boxes are in the opposite order
  }
  const bool for_data =
      e.last.phase == RunPhase::kWaitingForData || e.last.phase == RunPhase::kFirstBatch;
  const bool fed_late =
      e.waiting_share() > kWaitsForData || ((e.stuck() || !e.started()) && for_data);
  if (!fed_late) return e.started() ? &training : nullptr;
  return &*std::max_element(boxes.begin(), boxes.end() - 1, [](const Box& a, const Box& b) {
    return a.utilisation < b.utilisation;
  });
}

}  // namespace

std::vector<Box> boxes_of(const Trace& trace, const std::vector<Finding>& findings,
                          double window_s) {
  const Evidence e(trace);
  const Window w{beginning(trace, e, window_s), e.last};
  if (w.seconds() <= 0) return {};
  std::vector<Box> boxes{source_box(trace, w)};
  for (size_t i = std::min(trace.stages.size(), w.last.stages.size()); i-- > 0;) {
    boxes.push_back(stage_box(trace, w, i));
  }
  boxes.push_back(training_box(w));
  if (Box* hot = hottest(boxes, e, findings)) hot->hot = true;
  return boxes;
}

}  // namespace headway
