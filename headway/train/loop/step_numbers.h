#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "headway/trace/numbers.h"
#include "headway/train/model/network.h"

// Inside train/: gradients, weights and activations, measured in some steps.
namespace headway {

// Measures gradients, weights, updates, activations and inputs from a part of their values. After a
// measured step it waits until the time it took is a small share of the time of training.
//
//   if (numbers.measure(step)) network.forward(x, true, false, &numbers);
//   loss.backward();
//   numbers.before_update();
//   optimizer.step();
//   NumbersReading reading = numbers.after_update();
class StepNumbers : public LayerObserver {
 public:
  // `layers` may be null: in the user's own loop they are not known.
  StepNumbers(const std::vector<NamedWeight>& weights, const std::vector<LayerPlan>* layers);

  std::vector<WeightFacts> weights() const;  // the trainable ones, as initialised
  std::vector<std::string> layers() const;

  // Is the step that begins now measured? If so, until after_update().
  bool measure(int64_t step);
  bool measuring() const { return measuring_; }
  void put_off(int64_t ns) { next_ns_ += ns; }

  void on_layer(size_t layer, const at::Tensor& in, const at::Tensor& out) override;
  void before_update();           // with gradients, before the weights move
  NumbersReading after_update();  // when the weights have moved, still with gradients

 private:
  struct Watched {
    WeightFacts facts;
    at::Tensor value;
    at::Tensor before;  // the measured values, before the update
  };
  struct Watch {
    std::string name;
    bool relu = false;
    bool takes_input = false;  // first layer with weights, and does not normalise
  };

  std::vector<Watched> weights_;
  std::vector<Watch> layers_;
  bool measuring_ = false;
  int64_t spent_ns_ = 0;  // on this step
  int64_t next_ns_ = 0;   // when the next may be measured
  int64_t measured_ = 0;  // steps
  NumbersReading reading_;
  // On the device until they are fetched together.
  std::vector<at::Tensor> gradients_, norms_, moved_, dead_, outputs_;
  at::Tensor input_;
};

// Which layer gave the first NaN or infinity: runs the batch through the network again, and
// restores running means and variances.
std::string find_nonfinite_origin(const Network& network, const at::Tensor& batch);
// Names of the weights that hold a NaN or infinity.
std::vector<std::string> nonfinite_weights(const std::vector<NamedWeight>& weights);

}  // namespace headway
