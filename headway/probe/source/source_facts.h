#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headway/probe/source/source_differences.h"
#include "headway/probe/source/source_learning.h"
#include "headway/probe/source/source_validation.h"

namespace headway {

// What the source of a program says about it, each as a line number; line 0: nothing.
struct SourceFacts {
  int64_t decodes = 0;  // decodes images in TensorFlow's own threads
  int64_t positive_loss =
      0;                     // asks for a loss that cannot fall below zero: a crossentropy, MSE ...
  int64_t crossentropy = 0;  // uses a crossentropy
  int64_t learning_rate = 0;  // sets the learning rate to a number
  double rate = 0;            // ... that number
  int64_t schedule = 0;       // makes a schedule for the learning rate
  int64_t hooks = 0;          // registers hooks of PyTorch; the last such line
  int64_t shuffles = 0;  // shuffles a stream of samples: dataset.shuffle(...); the last such line
  int64_t after_prefetch = 0;       // calls map() of tf.data after the last prefetch
  int64_t serial_map = 0;           // calls map() of tf.data for one element after the other
  int64_t batch = 0;                // sets batch_size to a number, the largest one
  int64_t batch_size = 0;           // ... that number
  int64_t keeps = 0;                // appends to a list that nothing empties
  std::vector<SourceHint> hints{};  // why little may be learnt
  std::vector<SourceDifference> differences{};
  std::vector<SourceRange> validates{};  // functions that validate a model
};
SourceFacts facts_in(const std::vector<std::string>& lines);

}  // namespace headway
