#include "headway/train/loop/replay.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "headway/core/clock.h"
#include "headway/core/median.h"
#include "headway/observe/feed_watch.h"
#include "headway/train/device/tensor_bridge.h"

namespace headway {
namespace {

// The batch and the doubled batch take turns, so that a slow phase of the machine affects both.
constexpr int kRounds = 9, kLeastRounds = 3;
constexpr double kTurnS = 0.25, kLongS = 6;

using LossOfBatch = std::function<at::Tensor(Batch&)>;

double seconds_since(int64_t ns) { return 1e-9 * double(now_ns() - ns); }

// Every sample twice; strings are left out.
Batch doubled(const Batch& batch) {
  Batch out;
  for (const Field& field : batch.fields()) {
    if (field.value.dtype() == DType::kString || field.value.rank() == 0) continue;
    const at::Tensor once = to_torch(field.value);
    out.append(field.name, from_torch(at::cat({once, once})));
  }
  return out;
}

// Saves everything a step changes, and restores it at the end.
class RestoreAtEnd {
 public:
  explicit RestoreAtEnd(TrainedState& trained)
      : optimizer_(trained.optimizer()),
        iterations_(optimizer_.iterations()),
        generators_(random_generators(trained.device())) {
    for (const NamedWeight& w : trained.weights()) {
      keep(w.value.detach());
      // Half accumulated, where a run goes on in the middle of it.
      const at::Tensor gradient = w.value.grad();
      gradients_.emplace_back(w.value, gradient.defined() ? gradient.clone() : at::Tensor());
    }
    for (const auto& [name, slot] : optimizer_.slots()) keep(slot);
    for (const auto& [name, generator] : generators_) states_.push_back(generator.get_state());
  }
  RestoreAtEnd(const RestoreAtEnd&) = delete;
  ~RestoreAtEnd() {
    const c10::NoGradGuard guard;
    for (auto& [live, copy] : kept_) live.copy_(copy);
    for (auto& [weight, gradient] : gradients_) weight.mutable_grad() = gradient;
    for (size_t i = 0; i < states_.size(); ++i) generators_[i].second.set_state(states_[i]);
    optimizer_.restore(iterations_, optimizer_.scale());
  }

 private:
  void keep(const at::Tensor& live) { kept_.emplace_back(live, live.clone()); }

  OptimizerState& optimizer_;
  int64_t iterations_;
  std::vector<std::pair<std::string, at::Generator>> generators_;
  std::vector<at::Tensor> states_;
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_, gradients_;
};

// The mean over a short turn; the GPU has finished when the time is taken.
double step_s(Batch batch, OptimizerState& optimizer, const LossOfBatch& loss_of) {
  const auto step = [&] {
    at::Tensor loss = loss_of(batch);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
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

}  // namespace

Replayed replay(const Batch& batch, TrainedState& trained, const LossOfBatch& loss) {
  const RestoreAtEnd restore(trained);
  OptimizerState& optimizer = trained.optimizer();
  Replayed out{.reading = {.batch_size = samples_in(batch)}, .refusal = ""};
  Batch twice = doubled(batch);
  // Too many samples for the memory, or for code that expects a fixed number.
  const auto refused = [&](const std::exception& e) {
    const std::string_view text = e.what();  // libtorch's continues with a stack
    optimizer.zero_grad();
    out.refusal =
        fmt::format("the doubled batch cannot be trained on: {}", text.substr(0, text.find('\n')));
    twice = Batch();
  };
  std::vector<double> once_s, twice_s;
  const int64_t begun = now_ns();
  for (int round = 0; round <= kRounds; ++round) {
    if (round > kLeastRounds && seconds_since(begun) > kLongS) break;
    const double once = step_s(batch, optimizer, loss);
    double both = 0;
    if (!twice.empty()) {
      try {
        both = step_s(twice, optimizer, loss);
      } catch (const std::exception& e) {
        refused(e);
      }
    }
    if (round == 0) continue;  // the first steps of their shape
    once_s.push_back(once);
    twice_s.push_back(both);
  }
  out.reading.step_s = median(once_s);
  out.reading.double_step_s = twice.empty() ? 0 : median(twice_s);
  return out;
}

}  // namespace headway
