// Training speed beside libtorch written by hand (in this process) and, with --peers, Keras and
// PyTorch, in interleaved rounds on the same data.
//
//   train_bench --threads 2 --peers            a table
//   train_bench --json                         {"models": {"dense": {"headway": ...}}}, peers too
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/line_peer.h"
#include "bench/raw_libtorch.h"
#include "headway/core/clock.h"
#include "headway/core/median.h"
#include "headway/train/device/threads.h"
#include "headway/train/train.h"

using namespace headway;
using namespace headway::bench;

namespace {

struct Settings {
  std::vector<std::string> models{"dense", "conv", "vgg16"};
  int threads = 2;
  double seconds = 1;
  int rounds = 7;
  bool peers = false, json = false;
};

struct Task {
  Shape sample;
  int64_t classes, samples, batch;
};

Task task_of(const std::string& model) {
  if (model == "dense") return {{784}, 10, 10'000, 32};
  if (model == "conv") return {{64, 64, 3}, 10, 1'024, 16};
  return {{224, 224, 3}, 1'000, 32, 8};
}

Model headway_model(const std::string& name) {
  std::vector<Layer> layers;
  if (name == "dense") {
    layers = {Dense(128, {.activation = "relu"}), Dense(10, {.activation = "softmax"})};
  } else if (name == "conv") {
    layers = {Conv2D(32, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(),
              Dense(10, {.activation = "softmax"})};
  } else {
    layers = applications::vgg16_layers();
  }
  Model model(std::move(layers), {.name = name, .device = "cpu"});
  model.compile(
      {.optimizer = Adam(1e-3), .loss = SparseCategoricalCrossentropy(), .metrics = {Accuracy()}});
  return model;
}

struct Data {
  explicit Data(const Task& task)
      : x(Tensor::empty(DType::kFloat32, task.sample.with_outer(task.samples))),
        y(Tensor::empty(DType::kInt64, {task.samples})) {
    Random random(1, 0, 0, 0);
    for (float& v : x.values<float>()) v = random.uniform();
    for (int64_t& v : y.values<int64_t>()) {
      v = static_cast<int64_t>(random.below(static_cast<uint64_t>(task.classes)));
    }
  }
  Tensor x, y;
};

// One long fit() that pauses between two steps until the next round: what is measured is steps,
// not the start of a training.
class HeadwayTraining {
 public:
  HeadwayTraining(const std::string& name, const Task& task, const Data& data, int threads)
      : task_(task), thread_([=, this] { train(name, data, threads); }) {}
  ~HeadwayTraining() {
    {
      const std::lock_guard lock(mutex_);
      order_ = -1;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Images per second over whole steps.
  double round(double seconds) {
    std::unique_lock lock(mutex_);
    order_ = seconds;
    changed_.notify_all();
    changed_.wait(lock, [&] { return order_ == 0; });
    return speed_;
  }

 private:
  void train(const std::string& name, const Data& data, int threads) {
    const Dataset rows =
        from_tensor_slices({{"x", data.x}, {"y", data.y}}).shuffle().batch(task_.batch);
    headway_model(name).fit(rows.repeat(), {.steps_per_epoch = 1'000'000'000,
                                            .threads = {.intra_op = threads, .input = 1},
                                            .show = Show::kNothing,
                                            .should_stop = [this] { return pause(); }});
  }

  // Between two steps.
  bool pause() {
    const int64_t now = now_ns();
    if (until_ > 0 && now < until_) {
      ++steps_;
      return false;
    }
    std::unique_lock lock(mutex_);
    if (until_ > 0) {
      speed_ = double((steps_ + 1) * task_.batch) / (1e-9 * double(now - begin_));
      order_ = 0;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return order_ != 0; });
    begin_ = now_ns();
    until_ = begin_ + static_cast<int64_t>(order_ * 1e9);
    steps_ = 0;
    return order_ < 0;
  }

  const Task task_;
  std::mutex mutex_;
  std::condition_variable changed_;
  double order_ = 0;  // seconds; 0: wait; less: end
  double speed_ = 0;
  int64_t begin_ = 0, until_ = 0, steps_ = 0;
  std::thread thread_;
};

double raw_round(RawTraining& raw, const Task& task, const Settings& s) {
  const int64_t begin = now_ns(), until = begin + static_cast<int64_t>(s.seconds * 1e9);
  int64_t images = 0;
  while (now_ns() <= until) {
    raw.step();
    images += task.batch;
  }
  return double(images) / (1e-9 * double(now_ns() - begin));
}

using Rounds = std::map<std::string, std::vector<double>>;

Rounds measure(const std::string& name, const Settings& s) {
  const Task task = task_of(name);
  const Data data(task);
  HeadwayTraining headway(name, task, data, s.threads);
  RawTraining raw(name, data.x, data.y, task.batch, false);
  RawTraining raw_last(name, data.x, data.y, task.batch, true);
  const bool images = task.sample.rank() == 3;
  std::map<std::string, std::unique_ptr<LinePeer>> peers;
  if (s.peers) {
    for (const char* peer : {"keras", "keras-tuned", "pytorch"}) {
      auto p = std::make_unique<LinePeer>(fmt::format("{} --peer train-{} --model {} --threads {}",
                                                      HEADWAY_PEERS_SCRIPT, peer, name, s.threads));
      if (p->ready()) peers[peer] = std::move(p);
      else fmt::print(stderr, "PEER ABSENT: {} for {}\n", peer, name);
    }
  }
  Rounds rounds;
  headway.round(s.seconds);  // warm, all of them
  raw_round(raw, task, s);
  if (images) raw_round(raw_last, task, s);
  for (int i = 0; i < s.rounds; ++i) {
    rounds["headway"].push_back(headway.round(s.seconds));
    rounds["raw_libtorch"].push_back(raw_round(raw, task, s));
    if (images) rounds["raw_libtorch_channels_last"].push_back(raw_round(raw_last, task, s));
    for (auto& [peer, p] : peers) {
      const nlohmann::json r = p->order(fmt::format("run {}", s.seconds));
      if (!r.is_object()) continue;
      rounds[peer].push_back(r.at("images").get<double>() / r.at("seconds").get<double>());
    }
  }
  return rounds;
}

// Headway over each of the others, round by round: the machine's mood cancels out.
double ratio(const Rounds& rounds, const std::string& other) {
  std::vector<double> ratios;
  const auto& ours = rounds.at("headway");
  const auto& theirs = rounds.at(other);
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
    ratios.push_back(ours[i] / theirs[i]);
  return median(ratios);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app("Training speed beside libtorch by hand, Keras and PyTorch, in one run.");
  app.add_option("--models", s.models, "dense, conv, vgg16")->capture_default_str();
  app.add_option("--threads", s.threads, "for everyone")->capture_default_str();
  app.add_option("--seconds", s.seconds, "per round")->capture_default_str();
  app.add_option("--rounds", s.rounds, "interleaved; the median of the ratios counts")
      ->capture_default_str();
  app.add_flag("--peers", s.peers, "Keras and PyTorch too, where installed");
  app.add_flag("--json", s.json, "for machines; with the peers");
  CLI11_PARSE(app, argc, argv);
  s.peers |= s.json;
  apply_threads({.intra_op = s.threads}, false);
  nlohmann::json out{
      {"threads", s.threads}, {"rounds", s.rounds}, {"models", nlohmann::json::object()}};
  for (const std::string& name : s.models) {
    const Rounds rounds = measure(name, s);
    nlohmann::json speeds, ratios;
    for (const auto& [who, values] : rounds) {
      speeds[who] = median(values);
      if (who != "headway") ratios[who] = ratio(rounds, who);
    }
    if (!s.json) {
      fmt::print("{:<8} headway {:.4g} images/s\n", name, median(rounds.at("headway")));
      for (const auto& [who, r] : ratios.items()) {
        fmt::print("  {:<28}{:>10.4g} images/s   headway {:.3f}x\n", who, speeds[who].get<double>(),
                   r.get<double>());
      }
    }
    out["models"][name] = speeds;
    out["ratios"][name] = ratios;
  }
  if (s.json) fmt::print("{}\n", out.dump());
}
