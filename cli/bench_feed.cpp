#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/operators.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/step_costs.h"
#include "cli/verbs.h"
#include "headway/core/clock.h"
#include "headway/core/limits.h"
#include "headway/core/print.h"
#include "headway/doctor/evidence.h"
#include "headway/observe/watched_feed.h"
#include "headway/view/json.h"
#include "headway/view/terminal.h"

namespace headway::cli {
namespace {

constexpr double kWarmShare = 0.2;  // of the time measured, run before it
constexpr int kWarmElements = 3;    // at least, so that every buffer is in use

struct Settings {
  std::string dataset;
  OperatorOptions operators;
  std::string task;
  std::optional<int> threads;  // default: chosen
  double seconds = 5;
  bool explain = false;
  bool json = false;
};

struct Measured {
  int64_t items = 0;  // images, records or lines
  double first_batch_ms = 0;
  double wall_s = 0, cpu_s = 0;
  std::vector<StageFacts> stages;
  std::vector<StageReading> done;  // by them, meanwhile
  int64_t threads = 0;
  std::string explanation;
  Diagnosis diagnosis;  // of the whole, warm-up left out by the doctor
  int64_t batches = 0;  // likewise

  double per_s() const { return static_cast<double>(items) / wall_s; }
  double cpu_ms() const { return 1e3 * cpu_s / static_cast<double>(std::max<int64_t>(1, items)); }
  double working_s() const {  // of all workers, inside operators and sources
    double sum = 0;
    for (const StageReading& stage : done) sum += stage.busy_s + stage.input_s;
    return std::max(1e-9, sum);
  }
};

// Endless, and with the operators behind the last shuffle, so that each epoch has its own order.
Dataset endless(const Input& input, const std::vector<Operator>& operators) {
  size_t shuffled = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].kind == Operator::Kind::kElements) shuffled = i + 1;
  }
  Dataset dataset = input.dataset;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (i == shuffled) dataset = dataset.repeat();
    dataset = operators[i].apply(dataset);
  }
  return shuffled == operators.size() ? dataset.repeat() : dataset;
}

std::vector<Operator> operators_for(const Settings& s, const Input& input) {
  if (s.operators.given()) return s.operators.chosen(input);
  if (!s.task.empty() || input.has_images())
    return s.operators.task(s.task.empty() ? "t1" : s.task, input);
  return {{Operator::Kind::kBatch, [](const Dataset& d) { return d.batch(64); }}};
}

// Feeds for `seconds`; gives the number of items.
int64_t feed(WatchedFeed& run, bool batched, double seconds, int least, Progress& progress) {
  const int64_t until = now_ns() + static_cast<int64_t>(seconds * 1e9);
  int64_t items = 0;
  for (int n = 0; n < least || now_ns() < until; ++n) {
    check_interrupt();
    const auto element = run.next();
    if (!element)
      throw Error("the dataset gives no elements: it is empty, or every one was skipped",
                  "look at what it holds: headway inspect DATASET, with the same DATASET as here");
    const int64_t count = batched ? element->fields()[0].value.dim(0) : 1;
    items += count;
    progress.advance(count);
  }
  return items;
}

Measured measure(const Settings& s, const Dataset& dataset, bool batched) {
  Measured m;
  Progress progress("feeding", -1, "items");
  WatchedFeed run(dataset, {.program = "headway bench feed", .measures = true});
  feed(run, batched, 0, 1, progress);
  m.first_batch_ms = 1e3 * run.pipeline().stats().first_s;
  feed(run, batched, kWarmShare * s.seconds, kWarmElements, progress);
  const PipelineStats before = run.pipeline().stats();
  const int64_t wall = now_ns(), cpu = process_cpu_ns();
  m.items = feed(run, batched, s.seconds, 1, progress);
  m.wall_s = 1e-9 * static_cast<double>(now_ns() - wall);
  m.cpu_s = 1e-9 * static_cast<double>(process_cpu_ns() - cpu);
  const PipelineStats after = run.pipeline().stats();
  m.stages = after.stages;
  m.done = after.done;
  for (size_t i = 0; i < std::min(before.done.size(), m.done.size()); ++i) {
    m.done[i] = m.done[i].plus(before.done[i], -1);
  }
  m.threads = after.threads;
  m.batches = after.taken;
  m.explanation = run.pipeline().explain();
  m.diagnosis = run.diagnosis();
  return m;
}

struct Row {
  std::string name;
  double seconds;
};

// A stage's input and its operators; what is in none of these is the stage's own.
std::vector<Row> rows_of(const StageFacts& stage, const StageReading& done) {
  std::vector<Row> rows = {{"source", done.input_s}};
  double own = done.busy_s;
  for (size_t k = 0; k < std::min(stage.ops.size(), done.op_busy_s.size()); ++k) {
    rows.push_back({stage.ops[k].name, done.op_busy_s[k]});
    own -= done.op_busy_s[k];
  }
  rows.push_back({"putting together", std::max(0.0, own)});
  return rows;
}

void print_stages(const Measured& m) {
  const double working = m.working_s();
  const auto cells = [&](const std::string& name, double seconds, const std::string& flow) {
    return std::vector<std::string>{
        name, fmt::format("{:.1f}%", 100 * seconds / working),
        fmt::format("{:.3f}", 1e3 * seconds / static_cast<double>(std::max<int64_t>(1, m.items))),
        flow};
  };
  Table table({"stage", ">share", ">ms/item", ">out"});
  for (size_t i = 0; i < m.stages.size(); ++i) {
    const StageReading& done = m.done[i];
    table.row(cells(m.stages[i].name, done.busy_s + done.input_s,
                    size_text(static_cast<double>(done.bytes_out) / m.wall_s) + "/s"));
    for (const Row& row : rows_of(m.stages[i], done)) {
      if (row.seconds > 0.001 * working) table.row(cells("  " + row.name, row.seconds, ""));
    }
  }
  table.print();
}

void print_steps(const std::vector<StepCost>& steps) {
  Table table({"step by step, one thread", ">CPU-ms", ">adds"});
  for (const StepCost& step : steps)
    table.row(
        {step.name, fmt::format("{:.3f}", step.cpu_ms), fmt::format("{:+.3f}", step.adds_ms)});
  table.print();
}

// The step that adds most, where the sentence about the limit can only
// name the whole fused operator.
std::string heaviest(const std::vector<StepCost>& steps) {
  const auto most = std::max_element(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return a.adds_ms < b.adds_ms;
  });
  return fmt::format("{} alone takes {:.0f}%", most->name,
                     100 * most->adds_ms / std::max(most->adds_ms, steps.back().cpu_ms));
}

nlohmann::json steps_json(const std::vector<StepCost>& steps) {
  nlohmann::json out = nlohmann::json::array();
  for (const StepCost& step : steps)
    out.push_back({{"name", step.name}, {"cpu_ms", step.cpu_ms}, {"adds_ms", step.adds_ms}});
  return out;
}

nlohmann::json stages_json(const Measured& m) {
  nlohmann::json stages = nlohmann::json::array();
  const double working = m.working_s();
  for (size_t i = 0; i < m.stages.size(); ++i) {
    const StageReading& done = m.done[i];
    nlohmann::json operators = nlohmann::json::array();
    for (const Row& row : rows_of(m.stages[i], done))
      operators.push_back(
          {{"name", row.name}, {"seconds", row.seconds}, {"share", row.seconds / working}});
    stages.push_back({{"name", m.stages[i].name},
                      {"share", (done.busy_s + done.input_s) / working},
                      {"elements_in", done.in},
                      {"elements_out", done.out},
                      {"bytes_out", done.bytes_out},
                      {"operators", operators}});
  }
  return stages;
}

// What the doctor puts first, whether it is a fault or merely the work there is to do.
struct Limit {
  std::string cause, text;
};
Limit limit_of(const Measured& m) {
  const std::vector<Finding>& findings = m.diagnosis.findings;
  if (!findings.empty()) return {findings[0].id(), findings[0].summary};
  if (m.batches >= 2 * kMinSteps) return {"unknown", "nothing the doctor knows"};
  return {"unknown", fmt::format("too few batches to tell ({}): give --seconds {:.0f}", m.batches,
                                 std::ceil(2.0 * kMinSteps * (m.wall_s + 1) /
                                           static_cast<double>(std::max<int64_t>(1, m.batches))))};
}

void bench_feed(const Settings& s) {
  const Input input = open_input(s.dataset);
  const std::vector<Operator> operators = operators_for(s, input);
  Dataset dataset = endless(input, operators);
  dataset = dataset.with_options({.threads = s.threads});
  const bool batched = std::any_of(operators.begin(), operators.end(), [](const Operator& op) {
    return op.kind == Operator::Kind::kBatch;
  });
  const Measured m = measure(s, dataset, batched);
  const std::vector<StepCost> steps = step_costs(input, operators);
  const Limits limits = read_limits();
  const Limit limit = limit_of(m);
  const std::string item = input.has_images()               ? "image"
                           : input.kind == InputKind::kText ? "line"
                                                            : "record";
  if (s.json) {
    nlohmann::json out = {{"dataset", s.dataset},
                          {"kind", input.what()},
                          {"pipeline", dataset.describe()},
                          {"items_per_s", m.per_s()},
                          {"images_per_s", m.per_s()},
                          {"cpu_ms_per_item", m.cpu_ms()},
                          {"first_batch_ms", m.first_batch_ms},
                          {"items", m.items},
                          {"seconds", m.wall_s},
                          {"threads", m.threads},
                          {"cpus", limits.cpus},
                          {"cores_used", m.cpu_s / m.wall_s},
                          {"stages", stages_json(m)},
                          {"steps", steps_json(steps)},
                          {"limit", {{"kind", limit.cause}, {"text", limit.text}}},
                          {"explain", m.explanation}};
    const nlohmann::json judged = json_of(m.diagnosis.verdict, m.diagnosis.findings);
    for (const char* key : {"verdict", "sentence", "findings"}) out[key] = judged[key];
    return print_json(out);
  }
  print("{} ({})\n", s.dataset, input.what());
  print("  {}s/s {:.0f} · CPU-ms/{} {:.3f} · first batch {:.1f} ms · {} on {}\n\n", item, m.per_s(),
        item, m.cpu_ms(), m.first_batch_ms, counted(m.threads, "thread"), limits.cpu_source);
  print_stages(m);
  print("\n");
  print_steps(steps);
  print("\n  limited by: {}{}\n\n", limit.text, input.has_images() ? "; " + heaviest(steps) : "");
  print_lines(stdout, diagnosis_text(m.diagnosis.verdict, m.diagnosis.findings));
  if (s.explain) print_lines(stdout, "\n" + m.explanation);
}

}  // namespace

void add_bench(CLI::App& app, Task& task) {
  auto* bench =
      app.add_subcommand("bench", "measure; `bench feed`: how fast can this dataset be fed here");
  bench->require_subcommand(1);
  auto* verb =
      bench->add_subcommand("feed", "how fast a dataset can be fed here, and what limits it");
  set_help(
      *verb,
      {.examples =
           {{"headway bench feed photos --task t2 --seconds 5"},
            {"headway bench feed 'records/*.tfrecord' --shuffle --resize 224x224 --normalize "
             "--batch 32"}},
       .notes =
           "Tasks: t1 resize shorter:256, centre crop 224; t2 random resized crop 224, flip; t3 "
           "resize 64; each normalised, in batches. Images get t1 when nothing is asked for.",
       .statuses = exit_statuses()});
  auto s = std::make_shared<Settings>();
  verb->add_option("DATASET", s->dataset,
                   "the data to read: a folder, file or pattern ('data/*.tfrecord') of images, "
                   "TFRecord or text")
      ->type_name("PATH")
      ->required();
  s->operators.add_to(*verb);
  verb->add_option("--task", s->task,
                   "process the images in a standard way: t1 (resize, cut out the middle 224x224), "
                   "t2 (cut out 224x224 at random, flip) or t3 (resize to 64x64); default for "
                   "images: t1")
      ->check(CLI::IsMember({"t1", "t2", "t3"}));
  verb->add_option("--threads", s->threads,
                   "how many worker threads read and decode (default: chosen automatically and "
                   "adjusted while it runs)")
      ->check(CLI::PositiveNumber);
  verb->add_option("--seconds", s->seconds, "how many seconds to measure")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_flag(
      "--explain", s->explain,
      "also print how the data is read and processed: which stages on how many threads, which "
      "settings were chosen, and why");
  verb->add_flag("--json", s->json, "print the result as one JSON object on standard output");
  verb->callback([s, &task] { task = [s] { bench_feed(*s); }; });
}

}  // namespace headway::cli
