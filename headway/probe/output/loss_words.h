#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "headway/trace/outside.h"

namespace headway {

// The training loss that a line of output names: "loss: 0.53", "train_loss=1e-3", "{'loss': 0.69,
// ...}", "epoch 3: train 0.532 val 0.611", "mse nan". Nothing if there is none.
std::optional<double> loss_in(std::string_view line);

// Does the line contain NaN as a value, under any name: "contrastive=nan"?
bool tells_nan(std::string_view line);

// Does the line tell two losses or more, but not their total: "d_loss 0.6 g_loss 1.1"?
bool tells_several_losses(std::string_view line);

// Does the line tell an agent's reward: "return 12.5", "mean_reward=-3"?
bool tells_reward(std::string_view line);

// The learning rate that a line of output names: "lr 1e-3", "'learning_rate': 5e-05".
std::optional<double> rate_in(std::string_view line);

// Could a variable with this name hold the loss of a step?
bool names_a_loss(std::string_view variable);

// Losses in order: how many, the first, the last, and a series of bounded length.
class LossSeries {
 public:
  void add(double at_s, int64_t step, double value);
  // From a progress bar that is drawn several times per step: the last value counts.
  void add_of_bar(double at_s, int64_t step, double value);

  int64_t finite = 0, bad = 0;
  double first = 0, last = 0;
  const std::vector<SeenLoss>& kept() const { return kept_; }
  bool empty() const { return finite + bad == 0; }

 private:
  std::vector<SeenLoss> kept_;
  int64_t bar_step_ = -1;
  bool bar_was_finite_ = false;
};

}  // namespace headway
