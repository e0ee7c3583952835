#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// What a source says that may explain why little or nothing is learnt, by its line; 0: nothing.
// Each may be meant: it is for explaining what the losses show.
struct LearningFacts {
  int64_t second_softmax = 0;   // the model ends in a softmax, and its loss applies one itself
  int64_t missing_softmax = 0;  // the loss takes probabilities, and the model ends in plain numbers
  int64_t held_weights = 0;     // weights are told not to change
  int64_t no_step = 0;          // gradients are made here, and nothing makes a step with them
};
LearningFacts learning_in(const std::vector<std::string>& lines);

}  // namespace headway
