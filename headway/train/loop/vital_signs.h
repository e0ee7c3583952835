#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "headway/trace/numbers.h"
#include "headway/train/model/network.h"

// Inside train/: are the numbers of a training run sound?
namespace headway {

// Looks at gradients, weights, updates, activations and inputs in some steps, and at samples of
// them: each time it has cost a little, it waits until that is a small share of the time again.
//
//   if (signs.look_at(step)) network.forward(x, true, false, &signs);
//   loss.backward();
//   signs.before_update();
//   optimizer.step();
//   NumbersReading numbers = signs.after_update();
class VitalSigns : public LayerObserver {
 public:
  // Neither may be known: a loop of the user's own has weights but no layers.
  VitalSigns(const std::vector<NamedWeight>& weights, const std::vector<LayerPlan>* layers);

  std::vector<WeightFacts> weights() const;  // the trainable ones, as they began
  std::vector<std::string> layers() const;

  // Shall the step that begins now be looked at? Until after_update() or forget().
  bool look_at(int64_t step);
  bool looking() const { return looking_; }
  void forget() { looking_ = false; }
  void put_off(int64_t ns) { next_ns_ += ns; }

  void saw(size_t layer, const at::Tensor& in, const at::Tensor& out) override;
  void before_update();          // gradients are there
  NumbersReading after_update();  // weights have moved, gradients are still there

 private:
  struct Watched {
    WeightFacts facts;
    at::Tensor value;
    at::Tensor before;  // the sampled values, before the update
  };
  struct Watch {
    std::string name;
    bool relu = false;
    bool takes_input = false;  // the first that has weights and does not normalise
  };

  std::vector<Watched> weights_;
  std::vector<Watch> layers_;
  bool looking_ = false;
  int64_t begun_ns_ = 0;  // of this look
  int64_t spent_ns_ = 0;  // by this look
  int64_t next_ns_ = 0;   // when the next may begin
  int64_t looks_ = 0;
  NumbersReading sample_;
  // Still on the device: fetched together.
  std::vector<at::Tensor> gradients_, norms_, moved_, dead_, outputs_;
  at::Tensor input_;
};

// Which layer made the first number that is none, by running the batch through the network again;
// what is not to be blamed is left as it was.
std::string bad_number_origin(const Network& network, const at::Tensor& batch);
// Names of weights that hold one.
std::vector<std::string> bad_weights(const std::vector<NamedWeight>& weights);

}  // namespace headway
