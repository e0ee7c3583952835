#include "headway/data/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/core/clock.h"
#include "headway/core/json.h"
#include "headway/core/log.h"
#include "headway/core/resource_error.h"
#include "headway/data/autotune.h"
#include "headway/data/dataset.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

constexpr double kDefaultStallS = 10;
constexpr double kRamShare = 0.5;  // of what is available
constexpr int kSpins = 400;        // a few microseconds: cheaper than sleeping for a cheap element
constexpr const char* kFormat = "headway-position-1";

int64_t held_bytes(const Node& node) {
  int64_t total = node.held_bytes();
  for (const NodePtr& input : node.inputs()) total += held_bytes(*input);
  return total;
}

// What restoring a position costs beyond a seek, one operator a line.
std::string replays(const Node& node) {
  std::string text;
  for (const NodePtr& input : node.inputs()) text += replays(*input);
  return node.replay().empty() ? text : text + node.word() + " " + node.replay() + "\n";
}

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Negative numbers mean what leaving them out means.
Options cleaned(Options options) {
  if (options.threads && *options.threads < 0) options.threads.reset();
  if (options.ram_budget_bytes && *options.ram_budget_bytes < 0) options.ram_budget_bytes.reset();
  return options;
}

// What the workers may count on.
Limits limits_for(const Options& options) {
  Limits limits = read_limits();
  if (const int spare = options.spare_cores.value_or(0); spare > 0) {
    const double left = std::max(std::min(1.0, limits.cpus), limits.cpus - spare);
    limits.cpu_source += fmt::format(", {:.3g} left to others", limits.cpus - left);
    limits.cpus = left;
  }
  return limits;
}

std::string description_of(const Dataset& dataset) {
  const Options& options = dataset.options();
  const bool skips = options.errors && options.errors->skip;
  const std::string text = fmt::format("{}seed {}{}{}\n", dataset.describe(),
                                       options.seed.value_or(0), skips ? ", skips errors" : "",
                                       options.deterministic.value_or(true) ? "" : ", any order");
  // Paths may hold bytes that are no UTF-8: as JSON would keep them, so that saved and new compare.
  return parse_json(dump(text)).get<std::string>();
}

struct SavedPosition {
  std::string pipeline;
  int64_t epoch = 0, taken = 0, skipped = 0, seen = 0;
  Cursor cursor;
};

SavedPosition parse_position(const std::string& text) try {
  const nlohmann::json json = parse_json(text);
  const JsonView in(json);
  if (in["format"].as<std::string>() != kFormat)
    throw Error("it has another format than this release of Headway writes");
  SavedPosition out;
  out.pipeline = in["pipeline"].as<std::string>();
  Cursor counts;
  for (const char* key : {"epoch", "taken", "skipped", "seen"}) counts.put(in[key].as<int64_t>());
  CursorReader counted(counts);
  for (int64_t* count : {&out.epoch, &out.taken, &out.skipped, &out.seen}) *count = counted.take();
  out.cursor.words() = in["cursor"].as<std::vector<int64_t>>();
  return out;
} catch (const Error& e) {
  throw Error("this is not a saved position of a pipeline: " + e.problem(),
              "give what Pipeline::save() of the same release returned, unchanged, or start "
              "without it");
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct Pipeline::Impl {
  Impl(const Dataset& dataset, StartOptions start_options)
      : description(description_of(dataset)),
        limits(limits_for(dataset.options())),
        runtime(cleaned(dataset.options()), cleaned(dataset.options())
                                                .ram_budget_bytes.value_or(static_cast<int64_t>(
                                                    double(limits.memory_bytes) * kRamShare))),
        tune(runtime.pool, limits, runtime.options.threads),
        planned(plan(dataset.node())),
        epoch(start_options.epoch),
        started_ns(now_ns()) {
    if (start_options.state) {
      restore(*start_options.state);
    } else {
      root = start_stage(runtime, planned, epoch, 0);
    }
    runtime.ram.reserve(held_bytes(*planned), true);
    runtime.pool.set_tick([this] { tune.tick(consumer_away_ns()); });
    runtime.pool.set_threads(tune.first_choice());
    root->stage().start();
  }

  ~Impl() {
    runtime.pool.stop();
    root.reset();
  }

  // Spent by the consumer outside next(), so far.
  int64_t consumer_away_ns() const {
    const int64_t since = away_since_ns.load(std::memory_order_relaxed);
    return runtime.recorder.consumer.elsewhere_ns.load(std::memory_order_relaxed) +
           (since ? now_ns() - since : 0);
  }

  void restore(const PipelineState& state);

  const std::string description;
  const Limits limits;
  Runtime runtime;
  Autotune tune;
  const NodePtr planned;
  int64_t epoch;
  const int64_t started_ns;
  std::unique_ptr<StageIterator> root;
  Worker self{-1};  // for pipelines without threads
  // Stored by the consumer; reports are made from any thread.
  std::atomic<int64_t> taken{0};
  std::atomic<int64_t> returned_ns{0};           // when next() last gave something
  std::atomic<int64_t> away_since_ns{now_ns()};  // 0 while the consumer is inside next()
  std::atomic<bool> interrupted{false};
};

Pipeline::Pipeline(const Dataset& dataset, StartOptions options)
    : impl_(std::make_unique<Impl>(dataset, std::move(options))) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

std::optional<Element> Pipeline::next() {
  Impl& p = *impl_;
  ConsumerCounters& seen = p.runtime.recorder.consumer;
  const int64_t asked = now_ns();
  const int64_t left = p.returned_ns.load(std::memory_order_relaxed);
  if (left) seen.elsewhere_ns.fetch_add(asked - left, std::memory_order_relaxed);
  p.away_since_ns.store(0, std::memory_order_relaxed);
  const double stall_s = p.runtime.options.stall_report_s.value_or(kDefaultStallS);
  const auto patience = static_cast<int64_t>(stall_s * 1e9);
  int64_t next_report = stall_s > 0 ? asked + patience : INT64_MAX;
  int64_t now = asked;
  Element element;
  Poll poll;
  for (;;) {
    const uint64_t ticket = p.runtime.pool.output.ticket();
    try {
      poll = p.root->next(element);
    } catch (const std::bad_alloc&) {
      throw out_of_memory();
    }
    if (poll != Poll::kPending) break;
    if (p.runtime.pool.threads() == 0) {
      const uint64_t before = p.runtime.pool.work.ticket();
      if (p.runtime.pool.help(p.self) || p.runtime.pool.work.ticket() != before) continue;
      p.runtime.pool.output.wait(ticket, 1'000'000);
    } else {
      for (int i = 0; i < kSpins && p.runtime.pool.output.ticket() == ticket; ++i) relax();
      if (p.runtime.pool.output.ticket() != ticket) continue;
      now = now_ns();
      p.runtime.pool.output.wait(ticket,
                                 std::clamp<int64_t>(next_report - now, 1'000'000, 1'000'000'000));
    }
    if (p.interrupted) throw Error("the wait for the next element was interrupted");
    now = now_ns();
    if (now >= next_report) {
      log(LogLevel::kWarning, stall_report());
      next_report = now + patience;
    }
  }
  now = now_ns();
  p.returned_ns.store(now, std::memory_order_relaxed);
  p.away_since_ns.store(now, std::memory_order_relaxed);
  seen.waiting_ns.fetch_add(now - asked, std::memory_order_relaxed);
  if (poll == Poll::kEnd) return std::nullopt;
  const int64_t taken = p.taken.load(std::memory_order_relaxed);
  p.taken.store(taken + 1, std::memory_order_relaxed);
  if (taken == 0) seen.first_ns.store(now - p.started_ns, std::memory_order_relaxed);
  seen.taken.fetch_add(1, std::memory_order_relaxed);
  return element;
}

void Pipeline::interrupt() const { impl_->interrupted = true; }

PipelineState Pipeline::save() const {
  Cursor cursor;
  impl_->root->save(cursor);
  const nlohmann::json json = {{"format", kFormat},
                               {"pipeline", impl_->description},
                               {"epoch", impl_->epoch},
                               {"taken", impl_->taken.load()},
                               {"skipped", impl_->runtime.skip_log.skipped()},
                               {"seen", impl_->runtime.skip_log.seen()},
                               {"cursor", cursor.words()}};
  return {dump(json)};
}

void Pipeline::Impl::restore(const PipelineState& state) {
  const SavedPosition position = parse_position(state.text);
  if (position.pipeline != description) {
    throw Error(fmt::format("the position was saved by another pipeline\n--- saved\n{}--- here\n{}",
                            position.pipeline, description),
                "restore with the pipeline it was saved from, or start anew");
  }
  epoch = position.epoch;
  taken = position.taken;
  runtime.skip_log.restore(position.skipped, position.seen);
  root = start_stage(runtime, planned, epoch, 0);
  CursorReader reader(position.cursor);
  root->restore(reader);
  if (!reader.done()) {
    throw Error("a saved position holds more than this pipeline has", "it is damaged; start anew");
  }
}

PipelineStats Pipeline::stats() const {
  const Impl& p = *impl_;
  PipelineStats stats;
  for (const auto& s : p.runtime.recorder.stages()) {
    stats.stages.push_back(s->facts);
    stats.done.push_back(s->sample());
  }
  const ConsumerCounters& seen = p.runtime.recorder.consumer;
  stats.threads = p.runtime.pool.threads();
  stats.taken = p.taken;
  stats.running_s = double(now_ns() - p.started_ns) * 1e-9;
  stats.waiting_s = double(seen.waiting_ns) * 1e-9;
  stats.elsewhere_s = double(seen.elsewhere_ns) * 1e-9;
  stats.first_s = double(seen.first_ns) * 1e-9;
  stats.skipped = p.runtime.skip_log.skipped();
  stats.buffer_held = p.runtime.recorder.buffer_held;
  stats.buffer_wanted = p.runtime.recorder.buffer_wanted;
  stats.ram_used_bytes = p.runtime.ram.used_bytes();
  stats.ram_peak_bytes = p.runtime.ram.peak_bytes();
  stats.ram_limit_bytes = p.runtime.ram.limit_bytes();
  return stats;
}

std::string Pipeline::explain() const {
  const Impl& p = *impl_;
  const PipelineStats s = stats();
  std::string text = "described\n" + p.description + "planned\n" + describe_chain(*p.planned) +
                     "stages, consumer first\n";
  for (size_t i = 0; i < s.stages.size(); ++i) {
    text += fmt::format("{}{}: queue of {}\n", std::string(2 * s.stages[i].depth, ' '),
                        s.stages[i].name, s.done[i].queue_capacity);
  }
  text += fmt::format("RAM: {} MB of {} MB used, {} MB at most so far\nthreads\n",
                      s.ram_used_bytes >> 20, s.ram_limit_bytes >> 20, s.ram_peak_bytes >> 20);
  for (const std::string& decision : p.tune.decisions()) text += decision + "\n";
  const std::string bounds = replays(*p.planned);
  text += "restoring a position\n" + (bounds.empty() ? "is a seek\n" : bounds);
  if (s.taken > 1) {
    double work_s = 0;
    for (const StageReading& stage : s.done) work_s += stage.busy_s + stage.input_s;
    const double n = double(s.taken), workers = std::max(1, s.threads);
    text += fmt::format(
        "consumer: {:.3f} ms of its own per element, {:.3f} ms waiting for one\n"
        "feed: {:.3f} ms of work per element, so {} worker{} can give one every {:.3f} ms\n",
        1e3 * s.elsewhere_s / n, 1e3 * s.waiting_s / n, 1e3 * work_s / n, s.threads,
        s.threads == 1 ? "" : "s", 1e3 * work_s / n / workers);
  }
  return text;
}

Stall Pipeline::stall() const {
  const Impl& p = *impl_;
  Stall out;
  const int64_t now = now_ns();
  const int64_t left = p.returned_ns;
  const double quiet = double(now - (left ? left : p.started_ns)) * 1e-9;
  std::string& text = out.text;
  text = fmt::format("no element for {:.1f} s ({} so far)\n", quiet, p.taken.load());
  for (const auto& stage : p.runtime.pool.stages()) {
    text += fmt::format("  stage {}: {}\n", stage->name(), stage->state());
  }
  int idle = 0;
  for (const Worker* worker : p.runtime.pool.workers()) {
    const WorkerActivity::Snapshot a = worker->activity.snapshot();
    if (!a.since_ns) {
      ++idle;
      continue;
    }
    const std::string at =
        fmt::format("in {} of {} for {:.1f} s{}", a.op.empty() ? "its source" : a.op, a.stage,
                    double(now - a.since_ns) * 1e-9, a.file.empty() ? "" : ", on " + a.file);
    if (out.where.empty()) out.where = at, out.stage = a.stage;
    text += fmt::format("  worker {}: {}\n", worker->number, at);
  }
  text +=
      fmt::format("  {} of {} workers have nothing to do", idle, p.runtime.pool.workers().size());
  return out;
}

}  // namespace headway
