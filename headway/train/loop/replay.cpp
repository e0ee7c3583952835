// What training would do with a feed that takes no time: one batch, again and again.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "headway/core/clock.h"
#include "headway/core/median.h"
#include "headway/train/device/tensor_bridge.h"
#include "headway/train/loop/training_loop.h"

namespace headway {
namespace {

// One batch and twice the batch take turns, so that a slow spell of the machine meets both.
constexpr int kRounds = 9, kLeastRounds = 3;
constexpr double kTurnS = 0.25, kLongS = 6;
constexpr double kLongestWaitS = 3;

double seconds_since(int64_t ns) { return 1e-9 * double(now_ns() - ns); }

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

// The mean over a short turn, which a GPU has worked off at its end.
double TrainingLoop::replayed_step_s(Batch batch) {
  StepCounters counters;  // the run's own are not to know
  const auto step = [&] {
    at::Tensor loss = spec_.loss(batch, counters, nullptr);
    loss.backward();
    optimizer_->step();
    optimizer_->zero_grad();
    return loss;
  };
  (void)step().item<double>();  // warms up
  const int64_t begun = now_ns();
  for (int steps = 1;; ++steps) {
    const at::Tensor loss = step();
    if (seconds_since(begun) < kTurnS) continue;
    (void)loss.item<double>();
    return seconds_since(begun) / steps;
  }
}

// 0 where so many samples are too many: for the memory, or for code that counts on their number.
double TrainingLoop::replayed_or_refused_s(const Batch& batch) {
  try {
    return replayed_step_s(batch);
  } catch (const std::exception& e) {
    const std::string_view text = e.what();  // libtorch's goes on with a stack
    optimizer_->zero_grad();
    recorder_->note(NoteKind::kProbe,
                    fmt::format("twice the batch: {}", text.substr(0, text.find('\n'))));
    return 0;
  }
}

// A feed that fills its queues would take cores away from what is measured.
void TrainingLoop::await_quiet_feed() const {
  constexpr auto kPause = std::chrono::milliseconds(100);
  int64_t before = -1, unchanged = 0;
  for (double waited = 0; waited < kLongestWaitS && unchanged < 2; waited += 0.1) {
    int64_t done = 0;
    for (const StageReading& stage : pipeline_->stats().done) done += stage.in + stage.out;
    unchanged = done == before ? unchanged + 1 : 0;
    before = done;
    std::this_thread::sleep_for(kPause);
  }
}

void TrainingLoop::replay_first_batch() {
  view_.phase("probing");
  recorder_->enter(RunPhase::kProbing);
  await_quiet_feed();
  const Untouched untouched(weights_, *optimizer_, spec_.device);
  ReplayReading replay{.batch_size = samples_in(*first_batch_)};
  Batch twice = doubled(*first_batch_);
  std::vector<double> once_s, twice_s;
  const int64_t begun = now_ns();
  for (int round = 0; round <= kRounds; ++round) {
    if (round > kLeastRounds && seconds_since(begun) > kLongS) break;
    const double once = replayed_step_s(*first_batch_);
    const double both = twice.empty() ? 0 : replayed_or_refused_s(twice);
    if (both == 0) twice = Batch();
    if (round == 0) continue;  // the first steps of their shape
    once_s.push_back(once);
    twice_s.push_back(both);
  }
  replay.step_s = median(once_s);
  replay.double_step_s = twice.empty() ? 0 : median(twice_s);
  if (spec_.metrics) {
    for (MetricState& metric : *spec_.metrics) metric.reset();
  }
  recorder_->replay(replay);
}

}  // namespace headway
