// headway-train: the verb `headway train`, a program of its own so that the other verbs start
// without libtorch.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/build_facts.h"
#include "cli/complain.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/train_data.h"
#include "cli/train_settings.h"
#include "headway/core/print.h"
#include "headway/doctor/diagnose.h"
#include "headway/io/bytes/output_file.h"
#include "headway/train/device/libtorch.h"
#include "headway/train/device/threads.h"
#include "headway/train/train.h"
#include "headway/view/json.h"
#include "headway/view/live_screen.h"
#include "headway/view/report.h"
#include "headway/view/terminal.h"

namespace headway::cli {
namespace {

// Learns the drawn figures within two minutes on two cores. The largest answer anywhere in the
// image counts, not their mean: a figure fills a small part of it.
std::vector<Layer> small_layers(int64_t classes, const Shape& input) {
  const auto convolution = [](int64_t filters, Size2D kernel, Size2D strides) {
    return Conv2D(filters, kernel,
                  {.strides = strides,
                   .padding = "same",
                   .use_bias = false,
                   .kernel_initializer = "he_normal"});
  };
  std::vector<Layer> layers{Input(input), convolution(32, 5, 2)};
  for (const int64_t filters : {64, 128}) {
    layers.push_back(BatchNormalization({.momentum = 0.9}));
    layers.push_back(Activation("relu"));
    layers.push_back(convolution(filters, 3, 1));
    layers.push_back(MaxPooling2D(2));
  }
  const auto halved = [](int64_t n) { return std::max<int64_t>(1, (n + 1) / 2 / 4); };
  layers.push_back(BatchNormalization({.momentum = 0.9}));
  layers.push_back(Activation("relu"));
  layers.push_back(MaxPooling2D({halved(input[0]), halved(input[1])}));
  layers.push_back(Flatten());
  layers.push_back(Dense(classes, {.activation = "softmax"}));
  return layers;
}

int64_t default_size(const std::string& model) { return model == "small" ? 64 : 224; }

std::vector<Layer> layers_of(const TrainSettings& s, int64_t classes, int64_t size) {
  const applications::ApplicationOptions options{.classes = classes, .input = {size, size, 3}};
  if (s.model == "resnet18") return applications::resnet18_layers(options);
  if (s.model == "resnet50") return applications::resnet50_layers(options);
  if (s.model == "vgg16") return applications::vgg16_layers(options);
  return small_layers(classes, options.input);
}

Schedule schedule_of(const TrainSettings& s, double standard, int64_t steps) {
  const double rate = s.learning_rate > 0 ? s.learning_rate : standard;
  const Schedule base = s.schedule == "cosine"
                            ? Schedule::cosine(rate, std::max<int64_t>(1, steps - s.warmup))
                            : Schedule(rate);
  return s.warmup > 0 ? base.with_warmup(s.warmup) : base;
}

Optimizer optimizer_of(const TrainSettings& s, int64_t steps) {
  const Clipping clip{.by_global_norm = s.clip_norm};
  if (s.optimizer == "sgd") {
    return SGD({.learning_rate = schedule_of(s, 0.01, steps),
                .momentum = s.momentum,
                .weight_decay = s.weight_decay,
                .clip = clip});
  }
  if (s.optimizer == "rmsprop") {
    return RMSprop({.learning_rate = schedule_of(s, 0.001, steps),
                    .weight_decay = s.weight_decay,
                    .clip = clip});
  }
  const Schedule rate = schedule_of(s, 0.001, steps);
  if (s.optimizer == "adamw" && s.weight_decay == 0)
    return AdamW({.learning_rate = rate, .clip = clip});
  return Adam({.learning_rate = rate, .weight_decay = s.weight_decay, .clip = clip});
}

FitOptions fit_options(const TrainSettings& s, const TrainData& data) {
  FitOptions fit;
  fit.epochs = s.epochs;
  fit.steps_per_epoch = s.steps_per_epoch;
  if (!s.validation.empty() || s.validation_split > 0) fit.validation = data.validation;
  fit.accumulate = s.accumulate;
  fit.seed = s.seed;
  fit.threads = {.intra_op = s.intra_op, .input = s.input_threads};
  fit.checkpoint = {.folder = s.checkpoint.empty() ? s.work + "/checkpoints" : s.checkpoint,
                    .every_steps = s.every_steps,
                    .keep = s.keep,
                    .resume = s.resume};
  fit.callbacks.push_back(TerminateOnNaN());
  if (s.patience > 0) {
    fit.callbacks.push_back(EarlyStopping({.monitor = fit.validation ? "val_loss" : "loss",
                                           .patience = s.patience,
                                           .restore_best_weights = true}));
  }
  if (!s.csv.empty()) fit.callbacks.push_back(CSVLogger(s.csv));
  fit.trace = s.trace;
  fit.replay = s.replay;
  fit.when_stuck = s.when_stuck == "stop"    ? WhenStuck::kStop
                   : s.when_stuck == "abort" ? WhenStuck::kAbort
                                             : WhenStuck::kGoOn;
  fit.should_stop = [] { return interrupted(); };
  return fit;
}

nlohmann::json json_of(const Logs& logs) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, value] : logs) out[name] = value;
  return out;
}

nlohmann::json json_of(const TrainSettings& s, const Model& model, const History& history) {
  nlohmann::json epochs = nlohmann::json::array(), times = nlohmann::json::object();
  const std::vector<Finding> findings = diagnose(*history.trace);
  const Verdict judged = verdict(*history.trace, findings);
  for (const Logs& logs : history.epochs) epochs.push_back(json_of(logs));
  for (size_t i = 0; i < kTrainingPhases; ++i) {
    times[std::string(kStepPhaseNames[i])] = history.times.seconds[i];
  }
  return {{"model", s.model},
          {"parameters", model.parameter_count()},
          {"device", model.device()},
          {"epochs", epochs},
          {"steps", history.steps},
          {"seconds", history.seconds},
          {"images_per_s", history.samples_per_s()},
          {"first_batch_s", history.first_batch_s},
          {"first_step_s", history.first_step_s},
          {"time_s", times},
          {"stopped_by", history.stopped_by},
          {"warnings", history.warnings},
          {"verdict", judged.sentence},
          {"findings", json_of(judged, findings)["findings"]}};
}

void say_where(const Model& model, const TrainSettings& s) {
  if (model.device() == "cpu") {
    const std::string reason = s.device == "auto" ? " (no GPU: " + why_no_gpu() + ")" : "";
    print(stderr, "training on the CPU{}\n", reason);
    const Blas blas = find_blas();
    if (!blas.remedy.empty()) print(stderr, "warning: {}: {}\n", blas.name, blas.remedy);
  } else {
    print(stderr, "training on {}\n", model.device());
  }
}

void write_report(const std::string& path, const Trace& trace) {
  const std::vector<Finding> findings = diagnose(trace);
  AtomicFile file(path);
  file.write(report_html(trace, verdict(trace, findings), findings));
  file.commit();
}

History fit(Model& model, const Dataset& training, FitOptions options, bool live) {
  if (!live) return model.fit(training, std::move(options));
  LiveScreen screen;
  options.show = Show::kNothing;
  options.on_look = [&screen](const Trace& trace) {
    const std::vector<Finding> findings = diagnose(trace);
    screen.show(trace, verdict(trace, findings), findings);
  };
  return model.fit(training, std::move(options));
}

// A name that cannot be written to is said now, not after hours of training.
void check_outputs(const TrainSettings& s) {
  for (const std::string& path : {s.save, s.report, s.csv, s.trace}) {
    if (path.empty()) continue;
    if (std::filesystem::is_directory(path))
      throw Error(path + " is a folder", "name a file to write to");
    const AtomicFile writable(path);  // never committed: what is there stays
  }
}

void train(const TrainSettings& s) {
  check_outputs(s);
  const int64_t size = s.size > 0 ? s.size : default_size(s.model);
  const TrainData data = open_train_data(s, size);
  print(stderr, "{}\n", data.what);
  check_interrupt();
  Model model(layers_of(s, data.classes, size),
              {.name = s.model,
               .device = s.device,
               .precision = s.precision == "bfloat16" ? Precision::kBFloat16 : Precision::kFull,
               .seed = s.seed});
  const int64_t batches = s.steps_per_epoch.value_or(data.training.cardinality());
  model.compile(
      {.optimizer = optimizer_of(s, std::max<int64_t>(1, batches) * s.epochs / s.accumulate),
       .loss = SparseCategoricalCrossentropy({.label_smoothing = s.label_smoothing}),
       .metrics = {Accuracy()}});
  say_where(model, s);
  if (s.summary) print_lines(stderr, model.summary({.batch_size = s.batch}));
  const Dataset training = s.steps_per_epoch ? data.training.repeat() : data.training;
  const History history = fit(model, training, fit_options(s, data), s.live);
  if (!s.save.empty()) model.save_weights(s.save);
  if (!s.report.empty()) write_report(s.report, *history.trace);
  if (s.json) {
    print_json(json_of(s, model, history));
  } else {
    print_lines(stdout, history.time_table());
    if (!history.epochs.empty()) print("result: {}\n", history.epochs.back().str());
    if (!history.stopped_by.empty()) print("stopped: {}\n", history.stopped_by);
    const std::vector<Finding> findings = diagnose(*history.trace);
    print_lines(stdout, "verdict: " + diagnosis_text(verdict(*history.trace, findings), findings));
  }
  check_interrupt();
}

void print_version(bool json) {
  const LibtorchFacts facts = libtorch_facts();
  nlohmann::ordered_json libtorch = {
      {"version", facts.version}, {"cuda", nullptr}, {"why_no_gpu", nullptr}, {"blas", facts.blas}};
  if (facts.cuda) libtorch["cuda"] = *facts.cuda;
  if (!facts.why_no_gpu.empty()) libtorch["why_no_gpu"] = facts.why_no_gpu;
  if (!json) return print_lines(stdout, version_text(libtorch_text(libtorch)));
  nlohmann::ordered_json out = version_json();
  out["libtorch"] = libtorch;
  print_json_in_order(out);
}

int run(int argc, char** argv) {
  CLI::App app("Trains a model on images, and says where the time goes.", "headway train");
  TrainSettings settings;
  add_train_options(app, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return complain(kUsage, e.what(), "headway train --help");
  }
  if (settings.version) {
    print_version(settings.json);
    return 0;
  }
  if (!settings.config.empty()) read_train_config(app, settings.config);
  train(settings);
  return 0;
}

}  // namespace
}  // namespace headway::cli

int main(int argc, char** argv) {
  return headway::cli::guarded([&] { return headway::cli::run(argc, argv); });
}
