// What training would do with a feed that takes no time: one batch, again and again.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "headway/core/clock.h"
#include "headway/core/median.h"
#include "headway/train/tensor_bridge.h"
#include "headway/train/training_loop.h"

namespace headway {
namespace {

constexpr int kWarmUp = 3, kLeastSteps = 5, kMostSteps = 1000;
constexpr double kSeconds = 2;  // for each of the two
constexpr double kLongestWaitS = 3;

// The same samples twice over; names of files are left out.
Batch doubled(const Batch& batch) {
  Batch out;
  for (const Field& field : batch.fields()) {
    if (field.value.dtype() == DType::kString || field.value.rank() == 0) continue;
    const at::Tensor once = to_torch(field.value);
    out.append(field.name, from_torch(at::cat({once, once})));
  }
  return out;
}

// Everything a step changes, put back at the end.
class Untouched {
 public:
  Untouched(const std::vector<NamedWeight>& weights, OptimizerState& optimizer, c10::Device device)
      : optimizer_(optimizer),
        iterations_(optimizer.iterations()),
        generators_(random_generators(device)) {
    for (const NamedWeight& w : weights) keep(w.value.detach());
    for (const auto& [name, slot] : optimizer.slots()) keep(slot);
    for (const auto& [name, generator] : generators_) states_.push_back(generator.get_state());
  }
  ~Untouched() {
    const c10::NoGradGuard guard;
    for (auto& [live, copy] : kept_) live.copy_(copy);
    for (size_t i = 0; i < states_.size(); ++i) generators_[i].second.set_state(states_[i]);
    optimizer_.restore(iterations_, optimizer_.scale());
  }

 private:
  void keep(const at::Tensor& live) { kept_.emplace_back(live, live.clone()); }

  OptimizerState& optimizer_;
  int64_t iterations_;
  std::vector<std::pair<std::string, at::Generator>> generators_;
  std::vector<at::Tensor> states_;
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_;
};

}  // namespace

// On the CPU the median of the steps, so that a neighbour who looks in does not count. A GPU takes
// them in advance and works them off: their mean.
double TrainingLoop::replayed_step_s(Batch batch) {
  StepCounters counters;  // the run's own are not to know
  at::Tensor loss;
  std::vector<double> seconds;
  int64_t begun = 0, ended = 0;
  int step = -kWarmUp;
  for (; step < kMostSteps; ++step) {
    const double spent = 1e-9 * double(now_ns() - begun);
    if (step >= kLeastSteps && spent > kSeconds) break;
    if (step == 0) begun = ended = now_ns();
    loss = spec_.loss(batch, counters, nullptr);
    loss.backward();
    optimizer_->step();
    optimizer_->zero_grad();
    if (step == -1) (void)loss.item<double>();  // a GPU is done with the warm-up
    const int64_t now = now_ns();
    if (step >= 0) seconds.push_back(1e-9 * double(now - std::exchange(ended, now)));
  }
  (void)loss.item<double>();
  return spec_.device.is_cpu() ? median(seconds) : 1e-9 * double(now_ns() - begun) / step;
}

// A feed that fills its queues would take cores away from what is measured.
void TrainingLoop::await_quiet_feed() const {
  constexpr auto kPause = std::chrono::milliseconds(100);
  int64_t before = -1, unchanged = 0;
  for (double waited = 0; waited < kLongestWaitS && unchanged < 2; waited += 0.1) {
    int64_t done = 0;
    for (const StageStats& stage : pipeline_->stats().stages) {
      done += stage.elements_in + stage.elements_out;
    }
    unchanged = done == before ? unchanged + 1 : 0;
    before = done;
    std::this_thread::sleep_for(kPause);
  }
}

void TrainingLoop::replay_first_batch() {
  view_.phase("probing");
  recorder_->enter("probing");
  await_quiet_feed();
  const Untouched untouched(weights_, *optimizer_, spec_.device);
  ReplaySample replay{.batch_size = samples_in(*first_batch_)};
  replay.step_s = replayed_step_s(*first_batch_);
  if (const Batch twice = doubled(*first_batch_); !twice.empty()) {
    replay.double_step_s = replayed_step_s(twice);
  }
  if (spec_.metrics) {
    for (MetricState& metric : *spec_.metrics) metric.reset();
  }
  recorder_->replay(replay);
}

}  // namespace headway
