#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headway/train/loop/history.h"

// Inside train/: what a checkpoint says besides its tensors. Knows nothing of libtorch, so that its
// reader is fuzzed without it.
namespace headway {

struct SavedTraining {
  std::string description;  // of model, loss and optimizer; must be the same after a resume
  int64_t epoch = 0, step = 0, step_in_epoch = 0;
  int64_t accumulated = 0;  // batches whose gradients wait for an optimizer step
  int64_t iterations = 0;   // of the optimizer
  double learning_rate_scale = 1;
  std::pair<double, double> loss;                  // total and count
  std::vector<std::pair<double, double>> metrics;  // likewise
  std::string stopped_by;
  std::map<std::string, std::string> callbacks;  // what each one saved, by its name
  std::vector<Logs> history;
  std::vector<int> threads;             // intra_op, inter_op, input
  std::optional<std::string> pipeline;  // the position; nothing before the first batch
};

// One JSON object. Doubles bit for bit: JSON has no NaN.
std::string text_of(const SavedTraining& saved);

// Error for text that text_of cannot have written, and for another version.
SavedTraining parse_saved_training(std::string_view text);

inline constexpr const char* kDamagedState =
    "the checkpoint is damaged: delete it to resume from an older one, or give another folder";

}  // namespace headway
