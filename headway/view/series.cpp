#include "headway/view/series.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headway {
namespace {

// What happened between two readings.
struct Piece {
  const TraceReading &from, &to;

  double seconds() const { return to.at_s - from.at_s; }
  double steps() const { return double(to.steps - from.steps); }
  template <typename T>
  double rate(T SystemReading::*field) const {
    return double(to.system.*field - from.system.*field) / seconds();
  }
};

// The number of lines in one chart that can be distinguished: a large model has hundreds.
constexpr size_t kMaxLayers = 40;
constexpr size_t kNumberPoints = 150;

// A reading counts whole steps only: rates of steps are taken over longer pieces.
constexpr size_t kStepPieces = 120;

class Collector {
 public:
  Collector(const Trace& trace, size_t limit)
      : trace_(trace),
        limit_(limit),
        samples_(thinned(trace.samples, limit)),
        sparse_(thinned(trace.samples, std::min(limit, kStepPieces))) {}

  // value(piece) for every piece; not finite: not known there.
  template <typename Value>
  void steps(const char* chart, const char* name, Unit unit, Value value,
             SeriesLine line = SeriesLine::kOther) {
    static const TraceReading zero;
    pieces({chart, name, unit, line}, &zero, sparse_, value);
  }
  // Begins at the first reading, for values that count since the machine started.
  template <typename Value>
  void system(const char* chart, const char* name, Unit unit, Value value) {
    pieces({chart, name, unit}, nullptr, samples_, value);
  }

  template <typename Value>
  void now(const char* chart, const std::string& name, Unit unit, Value value) {
    Series series{chart, name, unit};
    for (const TraceReading* sample : samples_) add(series, *sample, value(*sample));
    keep(std::move(series));
  }

  // value(numbers, i) of every layer or weight; below 0 or not finite: not known there.
  template <typename Names, typename Value>
  void layers(const char* chart, Unit unit, const Names& names, Value value) {
    const auto numbers = thinned(trace_.numbers, std::min(limit_, kNumberPoints));
    for (const auto& name : thinned(names, kMaxLayers)) {
      Series series{chart, *name, unit};
      const auto i = static_cast<size_t>(name - names.data());
      for (const NumbersReading* n : numbers) {
        const double known = value(*n, i);
        if (std::isfinite(known) && known >= 0) series.points.push_back({n->at_s, n->step, known});
      }
      keep(std::move(series));
    }
  }

  // Drops a line that is always 0, because then it never happened.
  void drop_if_zero() {
    if (out_.empty()) return;
    const auto& points = out_.back().points;
    if (std::all_of(points.begin(), points.end(), [](const Point& p) { return p.value == 0; })) {
      out_.pop_back();
    }
  }

  // Values from training and from validation are lines of one chart.
  void epochs() {
    std::vector<Series> lines;
    std::map<std::pair<std::string, bool>, size_t> known;  // its name, and whether from validation
    const auto take = [&](const TraceEpoch& epoch, bool validation) {
      for (const auto& [log, value] : validation ? epoch.validation : epoch.logs) {
        const auto [at, fresh] = known.try_emplace({log, validation}, lines.size());
        if (fresh) lines.push_back({log, validation ? "validation" : "training, whole epoch"});
        if (!std::isfinite(value)) continue;
        lines[at->second].points.push_back({epoch.at_s, step_at(epoch.at_s), value});
      }
    };
    for (const TraceEpoch* epoch : thinned(trace_.epochs, limit_)) {
      take(*epoch, false);
      take(*epoch, true);
    }
    for (Series& line : lines) keep(std::move(line));
  }

  // Lines of one chart together, charts in the order of their first line.
  std::vector<Series> finish() {
    std::vector<std::string> charts;
    for (const Series& s : out_) {
      if (std::find(charts.begin(), charts.end(), s.chart) == charts.end()) {
        charts.push_back(s.chart);
      }
    }
    const auto place = [&](const Series& s) {
      return std::find(charts.begin(), charts.end(), s.chart);
    };
    std::stable_sort(out_.begin(), out_.end(),
                     [&](const Series& a, const Series& b) { return place(a) < place(b); });
    return std::move(out_);
  }

 private:
  template <typename Value>
  void pieces(Series series, const TraceReading* from,
              const std::vector<const TraceReading*>& samples, Value value) {
    for (const TraceReading* to : samples) {
      if (from && to->at_s > from->at_s) add(series, *to, value(Piece{*from, *to}));
      from = to;
    }
    keep(std::move(series));
  }
  static void add(Series& series, const TraceReading& at, double value) {
    if (std::isfinite(value)) series.points.push_back({at.at_s, at.steps, value});
  }
  void keep(Series series) {
    if (!series.points.empty()) out_.push_back(std::move(series));
  }
  int64_t step_at(double at_s) const {
    int64_t step = 0;
    for (const TraceReading& sample : trace_.samples) {
      if (sample.at_s > at_s) break;
      step = sample.steps;
    }
    return step;
  }

  const Trace& trace_;
  const size_t limit_;
  const std::vector<const TraceReading*> samples_, sparse_;
  std::vector<Series> out_;
};

void learning(Collector& c) {
  c.steps(
      "loss", "training", Unit::kNone,
      [](const Piece& p) {
        return (p.to.loss_sum - p.from.loss_sum) / double(p.to.losses - p.from.losses);
      },
      SeriesLine::kLoss);
  c.epochs();
  c.now("learning rate", "learning rate", Unit::kNone,
        [](const TraceReading& s) { return s.steps > 0 ? s.learning_rate : NAN; });
}

double at(const std::vector<double>& values, size_t i) {
  return i < values.size() ? values[i] : NAN;
}

void layers(Collector& c, const Trace& trace) {
  std::vector<std::string> weights;
  for (const WeightFacts& weight : trace.weights) weights.push_back(weight.name);
  c.layers("gradients", Unit::kNone, weights,
           [](const NumbersReading& n, size_t i) { return at(n.gradients, i); });
  c.layers("update per weight", Unit::kNone, weights, [](const NumbersReading& n, size_t i) {
    const double weight = at(n.weights, i), update = at(n.updates, i);
    return weight > 0 && update >= 0 ? update / weight : NAN;
  });
  c.layers("dead units", Unit::kShare, trace.layers,
           [](const NumbersReading& n, size_t i) { return at(n.dead_units, i); });
}

void speed(Collector& c, const Trace& trace) {
  c.steps(
      "step time", "step", Unit::kSeconds,
      [](const Piece& p) {
        const auto of_steps = [](const StepTimes& t) {
          return t.total() - t[StepPhase::kValidation] - t[StepPhase::kCheckpoint];
        };
        return p.steps() > 0 ? (of_steps(p.to.times) - of_steps(p.from.times)) / p.steps() : NAN;
      },
      SeriesLine::kStepTime);
  c.steps("step time", "waiting for data", Unit::kSeconds, [](const Piece& p) {
    const auto waited = [](const StepTimes& t) { return t[StepPhase::kWaitForData]; };
    return p.steps() > 0 ? (waited(p.to.times) - waited(p.from.times)) / p.steps() : NAN;
  });
  c.steps("speed", "samples", Unit::kPerSecond,
          [](const Piece& p) { return double(p.to.samples - p.from.samples) / p.seconds(); });
  if (!trace.stages.empty()) {  // the stage that training takes from
    c.now("batches ready", trace.stages[0].name, Unit::kBatches, [](const TraceReading& s) {
      return s.stages.empty() || s.stages[0].queue_capacity == 0 ? NAN
                                                                 : double(s.stages[0].queue_fill);
    });
  }
}

void machine(Collector& c) {
  const auto rate = [&](const char* chart, const char* name, Unit unit, auto field) {
    c.system(chart, name, unit, [=](const Piece& p) { return p.rate(field); });
    c.drop_if_zero();
  };
  rate("cores", "used", Unit::kCores, &SystemReading::cpu_s);
  rate("cores", "threads that wait for one", Unit::kCores, &SystemReading::run_queue_wait_s);
  rate("CPU quota", "time throttled", Unit::kShare, &SystemReading::throttled_s);
  const auto bytes = [&](const char* name, auto field) {
    c.now("memory", name, Unit::kBytes, [=](const TraceReading& s) { return double(field(s)); });
    c.drop_if_zero();
  };
  bytes("this process", [](const TraceReading& s) { return s.system.rss_bytes; });
  bytes("held by the feed", [](const TraceReading& s) { return s.feed_ram_bytes; });
  bytes("in swap", [](const TraceReading& s) { return s.system.swap_bytes; });
  c.steps("GPU", "busy", Unit::kShare,
          [](const Piece& p) { return (p.to.gpu.busy_s - p.from.gpu.busy_s) / p.seconds(); });
  c.drop_if_zero();
  c.steps("GPU", "slowed down by power or heat", Unit::kShare, [](const Piece& p) {
    return (p.to.gpu.throttled_s - p.from.gpu.throttled_s) / p.seconds();
  });
  c.drop_if_zero();
  c.now("GPU memory", "used", Unit::kBytes,
        [](const TraceReading& s) { return double(s.gpu.memory_used); });
  c.drop_if_zero();
  rate("reading", "asked for", Unit::kBytesPerSecond, &SystemReading::read_bytes);
  rate("reading", "from a disk", Unit::kBytesPerSecond, &SystemReading::disk_bytes);
  rate("pressure", "some wait for a core", Unit::kShare, &SystemReading::cpu_some_s);
  rate("pressure", "some wait for a disk", Unit::kShare, &SystemReading::io_some_s);
  rate("pressure", "some wait for memory", Unit::kShare, &SystemReading::memory_some_s);
  rate("major faults", "pages read back", Unit::kPerSecond, &SystemReading::major_faults);
}

}  // namespace

std::vector<Series> series_of(const Trace& trace, size_t limit) {
  Collector collector(trace, limit);
  learning(collector);
  layers(collector, trace);
  speed(collector, trace);
  machine(collector);
  return collector.finish();
}

std::vector<StepPiece> step_pieces(const Trace& trace, size_t limit) {
  const TraceReading zero;
  const TraceReading* from = &zero;
  std::vector<StepPiece> out;
  for (const TraceReading* to : thinned(trace.samples, limit)) {
    StepPiece piece{from->at_s, to->at_s, to->steps, to->steps - from->steps};
    for (size_t i = 0; i < kStepPhases; ++i) {
      piece.times.seconds[i] = std::max(0.0, to->times.seconds[i] - from->times.seconds[i]);
    }
    // A phase is counted when it ends: a long one belongs to the piece in which it ends.
    if (piece.to_s <= piece.from_s || piece.times.total() <= 0) continue;
    out.push_back(piece);
    from = to;
  }
  return out;
}

}  // namespace headway
