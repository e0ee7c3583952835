#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headway/probe/source/source_differences.h"
#include "headway/probe/source/source_learning.h"
#include "headway/probe/source/source_validation.h"

namespace headway {

// What the source of a program says about it, by its line; line 0: nothing.
struct SourceFacts {
  int64_t decodes = 0;  // decodes images in TensorFlow's own threads
  int64_t positive_loss =
      0;                     // asks for a loss that cannot fall below zero: a crossentropy, MSE ...
  int64_t crossentropy = 0;  // asks for a crossentropy
  int64_t learning_rate = 0;        // gives a number as learning rate
  double rate = 0;                  // ... that number
  int64_t schedule = 0;             // makes a schedule of learning rates
  int64_t hooks = 0;                // registers hooks of PyTorch, the last one
  int64_t shuffles = 0;             // mixes a stream of samples: dataset.shuffle(...), the last one
  int64_t after_prefetch = 0;       // maps behind the last prefetch of tf.data
  int64_t serial_map = 0;           // maps one element of tf.data after the other
  int64_t batch = 0;                // gives a number as batch_size, the largest one
  int64_t batch_size = 0;           // ... that number
  int64_t keeps = 0;                // appends to a list that nothing empties
  std::vector<SourceHint> hints{};  // why little may be learnt
  std::vector<SourceDifference> differences{};
  std::vector<SourceRange> validates{};  // functions that measure a model
};
SourceFacts facts_in(const std::vector<std::string>& lines);

}  // namespace headway
