#include "headway/view/series.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headway {
namespace {

// What happened between two samples.
struct Piece {
  const TraceSample &from, &to;

  double seconds() const { return to.at_s - from.at_s; }
  double steps() const { return double(to.steps - from.steps); }
  template <typename T>
  double rate(T SystemSample::*field) const {
    return double(to.system.*field - from.system.*field) / seconds();
  }
};

// Lines of one chart that can still be told apart, and their points: a large model has hundreds.
constexpr size_t kMaxLayers = 40;
constexpr size_t kNumberPoints = 150;

// A sample sees a step whole or not at all: rates of steps are taken over longer pieces.
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
  void steps(const char* chart, const char* name, const char* unit, Value value) {
    static const TraceSample zero;
    pieces({chart, name, unit}, &zero, sparse_, value);
  }
  // From the first sample on, for what counts since the machine started.
  template <typename Value>
  void system(const char* chart, const char* name, const char* unit, Value value) {
    pieces({chart, name, unit}, nullptr, samples_, value);
  }

  template <typename Value>
  void now(const char* chart, const std::string& name, const char* unit, Value value) {
    Series series{chart, name, unit};
    for (const TraceSample* sample : samples_) add(series, *sample, value(*sample));
    keep(std::move(series));
  }

  // value(numbers, i) of every layer or weight; below 0 or not finite: not known there.
  template <typename Names, typename Value>
  void layers(const char* chart, const char* unit, const Names& names, Value value) {
    const auto numbers = thinned(trace_.numbers, std::min(limit_, kNumberPoints));
    for (const auto& name : thinned(names, kMaxLayers)) {
      Series series{chart, *name, unit};
      const auto i = static_cast<size_t>(name - names.data());
      for (const NumbersSample* n : numbers) {
        const double known = value(*n, i);
        if (std::isfinite(known) && known >= 0) series.points.push_back({n->at_s, n->step, known});
      }
      keep(std::move(series));
    }
  }

  // 0 means that it did not happen: left out where it never did.
  void drop_if_zero() {
    if (out_.empty()) return;
    const auto& points = out_.back().points;
    if (std::all_of(points.begin(), points.end(), [](const Point& p) { return p.value == 0; })) {
      out_.pop_back();
    }
  }

  // "val_accuracy" becomes the line "validation" of the chart "accuracy".
  void epochs() {
    std::map<std::string, Series> by_log;
    std::vector<std::string> order;
    for (const TraceEpoch* epoch : thinned(trace_.epochs, limit_)) {
      for (const auto& [log, value] : epoch->logs) {
        const bool validation = log.starts_with("val_");
        if (by_log.count(log) == 0) {
          order.push_back(log);
          by_log[log] = {validation ? log.substr(4) : log,
                         validation ? "validation" : "training, whole epoch"};
        }
        if (!std::isfinite(value)) continue;
        by_log[log].points.push_back({epoch->at_s, step_at(epoch->at_s), value});
      }
    }
    for (const std::string& log : order) keep(std::move(by_log[log]));
  }

  // Lines of one chart behind one another, charts in the order of their first line.
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
  void pieces(Series series, const TraceSample* from,
              const std::vector<const TraceSample*>& samples, Value value) {
    for (const TraceSample* to : samples) {
      if (from && to->at_s > from->at_s) add(series, *to, value(Piece{*from, *to}));
      from = to;
    }
    keep(std::move(series));
  }
  static void add(Series& series, const TraceSample& at, double value) {
    if (std::isfinite(value)) series.points.push_back({at.at_s, at.steps, value});
  }
  void keep(Series series) {
    if (!series.points.empty()) out_.push_back(std::move(series));
  }
  int64_t step_at(double at_s) const {
    int64_t step = 0;
    for (const TraceSample& sample : trace_.samples) {
      if (sample.at_s > at_s) break;
      step = sample.steps;
    }
    return step;
  }

  const Trace& trace_;
  const size_t limit_;
  const std::vector<const TraceSample*> samples_, sparse_;
  std::vector<Series> out_;
};

void learning(Collector& c) {
  c.steps("loss", "training", "", [](const Piece& p) {
    return (p.to.loss_sum - p.from.loss_sum) / double(p.to.losses - p.from.losses);
  });
  c.epochs();
  c.now("learning rate", "learning rate", "",
        [](const TraceSample& s) { return s.steps > 0 ? s.learning_rate : NAN; });
}

double at(const std::vector<double>& values, size_t i) {
  return i < values.size() ? values[i] : NAN;
}

void layers(Collector& c, const Trace& trace) {
  std::vector<std::string> weights;
  for (const WeightFacts& weight : trace.weights) weights.push_back(weight.name);
  c.layers("gradients", "", weights,
           [](const NumbersSample& n, size_t i) { return at(n.gradients, i); });
  c.layers("update per weight", "", weights, [](const NumbersSample& n, size_t i) {
    const double weight = at(n.weights, i), update = at(n.updates, i);
    return weight > 0 && update >= 0 ? update / weight : NAN;
  });
  c.layers("dead units", "share", trace.layers,
           [](const NumbersSample& n, size_t i) { return at(n.dead_units, i); });
}

void speed(Collector& c, const Trace& trace) {
  c.steps("step time", "step", "s", [](const Piece& p) {
    const auto of_steps = [](const StepTimes& t) {
      return t.total() - t[StepPhase::kValidation] - t[StepPhase::kCheckpoint];
    };
    return p.steps() > 0 ? (of_steps(p.to.times) - of_steps(p.from.times)) / p.steps() : NAN;
  });
  c.steps("step time", "waiting for data", "s", [](const Piece& p) {
    const auto waited = [](const StepTimes& t) { return t[StepPhase::kWaitForData]; };
    return p.steps() > 0 ? (waited(p.to.times) - waited(p.from.times)) / p.steps() : NAN;
  });
  c.steps("speed", "samples", "/s",
          [](const Piece& p) { return double(p.to.samples - p.from.samples) / p.seconds(); });
  if (!trace.stages.empty()) {  // the stage that training takes from
    c.now("batches ready", trace.stages[0].name, "batches", [](const TraceSample& s) {
      return s.stages.empty() || s.stages[0].queue_capacity == 0 ? NAN
                                                                 : double(s.stages[0].queue_fill);
    });
  }
}

void machine(Collector& c) {
  const auto rate = [&](const char* chart, const char* name, const char* unit, auto field) {
    c.system(chart, name, unit, [=](const Piece& p) { return p.rate(field); });
    c.drop_if_zero();
  };
  rate("cores", "used", "cores", &SystemSample::cpu_s);
  rate("cores", "threads that wait for one", "cores", &SystemSample::run_queue_wait_s);
  rate("CPU quota", "time throttled", "share", &SystemSample::throttled_s);
  const auto bytes = [&](const char* name, auto field) {
    c.now("memory", name, "bytes", [=](const TraceSample& s) { return double(field(s)); });
    c.drop_if_zero();
  };
  bytes("this process", [](const TraceSample& s) { return s.system.rss_bytes; });
  bytes("held by the feed", [](const TraceSample& s) { return s.feed_ram_bytes; });
  bytes("in swap", [](const TraceSample& s) { return s.system.swap_bytes; });
  c.steps("GPU", "busy", "share",
          [](const Piece& p) { return (p.to.gpu.busy_s - p.from.gpu.busy_s) / p.seconds(); });
  c.drop_if_zero();
  c.steps("GPU", "slowed down by power or heat", "share", [](const Piece& p) {
    return (p.to.gpu.throttled_s - p.from.gpu.throttled_s) / p.seconds();
  });
  c.drop_if_zero();
  c.now("GPU memory", "used", "bytes",
        [](const TraceSample& s) { return double(s.gpu.memory_used); });
  c.drop_if_zero();
  rate("reading", "asked for", "bytes/s", &SystemSample::read_bytes);
  rate("reading", "from a disk", "bytes/s", &SystemSample::disk_bytes);
  rate("pressure", "some wait for a core", "share", &SystemSample::cpu_some_s);
  rate("pressure", "some wait for a disk", "share", &SystemSample::io_some_s);
  rate("pressure", "some wait for memory", "share", &SystemSample::memory_some_s);
  rate("major faults", "pages read back", "/s", &SystemSample::major_faults);
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
  const TraceSample zero;
  const TraceSample* from = &zero;
  std::vector<StepPiece> out;
  for (const TraceSample* to : thinned(trace.samples, limit)) {
    StepPiece piece{from->at_s, to->at_s, to->steps, to->steps - from->steps};
    for (size_t i = 0; i < kStepPhases; ++i) {
      piece.times.seconds[i] = std::max(0.0, to->times.seconds[i] - from->times.seconds[i]);
    }
    // A phase is counted when it ends: a long one goes with the piece in which it did.
    if (piece.to_s <= piece.from_s || piece.times.total() <= 0) continue;
    out.push_back(piece);
    from = to;
  }
  return out;
}

}  // namespace headway
