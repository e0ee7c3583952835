#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

// A trainable weight of the model.
struct WeightFacts {
  std::string name{};  // "conv2d_1.weight"
  int64_t values = 0;
  int64_t fan_in = 0;            // of a kernel: inputs of each unit; 0: not known
  bool kernel = false;           // has inputs and units: not a bias, not a scale
  bool identical_units = false;  // every unit began with the same values

  bool operator==(const WeightFacts&) const = default;
};

// Numbers of one training step that was examined. Norms are root mean squares, so that large and
// small weights can be compared. -1: not known; NaN: not finite.
struct NumbersReading {
  int64_t step = 0;
  double at_s = 0;
  std::vector<double> gradients{};   // as Trace::weights; -1: the weight got no gradient
  std::vector<double> weights{};     // likewise, before the update
  std::vector<double> updates{};     // likewise: how much it changed
  std::vector<double> dead_units{};  // as Trace::layers: share of relu units that never fired
  std::vector<double> outputs{};     // as Trace::layers: standard deviation
  double input_mean = 0;             // of the input of the first layer with weights
  double input_std = -1;             // -1: no such layer, or one that normalises
};

}  // namespace headway
