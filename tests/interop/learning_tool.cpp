// Computes losses, metrics and optimizer steps for learning_test.py:
//
//   learning_tool CASES.json IN.safetensors OUT.safetensors
//
// CASES.json is a list of objects; the arrays of case i are called "i.<name>" in both files.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "headway/core/error.h"
#include "headway/io/records/safetensors.h"
#include "headway/train/device/tensor_bridge.h"
#include "headway/train/learn/loss_function.h"
#include "headway/train/learn/metric_state.h"
#include "headway/train/learn/optimizer_state.h"

using namespace headway;
using nlohmann::json;

namespace {

// One case's half of the two files.
struct Files {
  const Safetensors& in;
  Safetensors& out;
  std::string prefix;

  at::Tensor get(const std::string& name) const {
    const Tensor* found = in.find(prefix + name);
    return found ? to_torch(*found) : at::Tensor();
  }
  void put(const std::string& name, const at::Tensor& value) const {
    out.tensors.emplace_back(prefix + name, from_torch(value.detach().clone().contiguous()));
  }
};

template <typename Maker>
auto made_by(const std::map<std::string, Maker>& makers, const std::string& name) {
  const auto maker = makers.find(name);
  if (maker == makers.end()) throw Error("learning_tool knows no " + name);
  return maker->second();
}

Loss loss_of(const json& c) {
  const CrossentropyOptions options{.from_logits = c.value("from_logits", false),
                                    .label_smoothing = c.value("label_smoothing", 0.0)};
  return made_by<std::function<Loss()>>(
      {{"mse", MeanSquaredError},
       {"mae", MeanAbsoluteError},
       {"huber", [&] { return Huber(c.value("delta", 1.0)); }},
       {"binary", [&] { return BinaryCrossentropy(options); }},
       {"categorical", [&] { return CategoricalCrossentropy(options); }},
       {"sparse", [&] { return SparseCategoricalCrossentropy(options); }}},
      c.at("loss"));
}

void run_loss(const json& c, const Files& files) {
  at::Tensor output = files.get("output").requires_grad_();
  const at::Tensor value =
      compute_loss(loss_of(c), files.get("target"), output,
                   Activation::parse(c.value("missing", "linear")), files.get("weights"));
  value.backward();
  files.put("value", value);
  files.put("gradient", output.grad());
}

void run_metric(const json& c, const Files& files) {
  std::optional<double> threshold;
  if (c.contains("threshold")) threshold = c["threshold"].get<double>();
  const Metric metric =
      made_by<std::function<Metric()>>({{"accuracy", [&] { return Accuracy(threshold); }},
                                        {"top_k", [&] { return TopKAccuracy(c.value("k", 5)); }},
                                        {"mse", MSE},
                                        {"mae", MAE}},
                                       c.at("metric"));
  MetricState state(metric, loss_of(c));
  for (int batch = 0; batch < c.at("batches"); ++batch) {
    const std::string number = fmt::format("{}.", batch);
    state.update(files.get(number + "target"), files.get(number + "output"),
                 Activation::parse(c.value("missing", "linear")), files.get(number + "weights"));
    files.put(number + "value", at::scalar_tensor(state.value(), at::kDouble));
  }
}

Schedule schedule_of(const json& c) {
  const double initial = c.value("learning_rate", 0.01);
  const int64_t steps = c.value("decay_steps", 1);
  const auto schedule = made_by<std::function<Schedule()>>(
      {{"constant", [&] { return Schedule(initial); }},
       {"cosine", [&] { return Schedule::cosine(initial, steps, c.value("alpha", 0.0)); }},
       {"exponential",
        [&] {
          return Schedule::exponential(initial, steps, c.at("rate"), c.value("staircase", false));
        }},
       {"step", [&] { return Schedule::step(initial, c.at("boundaries"), c.at("factor")); }}},
      c.value("schedule", "constant"));
  return schedule.with_warmup(c.value("warmup", 0));
}

Optimizer optimizer_of(const json& c) {
  return {.kind = made_by<std::function<Optimizer::Kind()>>(
              {{"sgd", [] { return Optimizer::Kind::kSGD; }},
               {"adam", [] { return Optimizer::Kind::kAdam; }},
               {"rmsprop", [] { return Optimizer::Kind::kRMSprop; }}},
              c.at("optimizer")),
          .learning_rate = schedule_of(c),
          .momentum = c.value("momentum", 0.0),
          .nesterov = c.value("nesterov", false),
          .beta_1 = c.value("beta_1", 0.9),
          .beta_2 = c.value("beta_2", 0.999),
          .rho = c.value("rho", 0.9),
          .epsilon = c.value("epsilon", 1e-7),
          .amsgrad = c.value("amsgrad", false),
          .centered = c.value("centered", false),
          .weight_decay = c.value("weight_decay", 0.0),
          .clip = {.by_value = c.value("clipvalue", 0.0),
                   .by_norm = c.value("clipnorm", 0.0),
                   .by_global_norm = c.value("global_clipnorm", 0.0)}};
}

// dense: the fused pass. channels_last: weights and gradients lie differently in memory. gaps: the
// weights are no dense block, so that the foreach kernels have to do it.
at::Tensor laid_out(const at::Tensor& weight, const std::string& layout) {
  if (layout == "channels_last" && weight.dim() == 4)
    return weight.contiguous(at::MemoryFormat::ChannelsLast);
  if (layout == "gaps") return at::stack({weight, weight}, -1).select(-1, 0);
  return weight.clone();
}

void run_optimizer(const json& c, const Files& files) {
  std::vector<at::Tensor> weights;
  for (int i = 0; i < c.at("weights"); ++i) {
    const at::Tensor weight = files.get(fmt::format("weight.{}", i));
    weights.push_back(laid_out(weight, c.value("layout", "dense")).requires_grad_());
  }
  OptimizerState state(optimizer_of(c), weights);
  for (int step = 0; step < c.at("steps"); ++step) {
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i].mutable_grad() = files.get(fmt::format("{}.gradient.{}", step, i));
    state.step();
    state.zero_grad();
    for (size_t i = 0; i < weights.size(); ++i)
      files.put(fmt::format("{}.weight.{}", step, i), weights[i]);
  }
}

void run(const json& c, const Files& files) {
  const std::string kind = c.at("kind");
  at::set_num_threads(c.value("threads", 2));
  if (kind == "loss") return run_loss(c, files);
  if (kind == "metric") return run_metric(c, files);
  return run_optimizer(c, files);
}

void run_all(const std::string& cases_path, const std::string& in_path,
             const std::string& out_path) {
  std::ifstream file(cases_path);
  const json cases = json::parse(file);
  const Safetensors in = read_safetensors(in_path);
  Safetensors out;
  for (size_t i = 0; i < cases.size(); ++i)
    run(cases[i], {.in = in, .out = out, .prefix = fmt::format("{}.", i)});
  write_safetensors(out_path, out);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw Error("usage: learning_tool CASES.json IN.safetensors OUT.safetensors");
    run_all(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
