#pragma once

// For programs that also work with libtorch's own tensors and modules. The only public header that
// includes libtorch (half a minute per file that includes it): link ${TORCH_LIBRARIES}, too.
#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headway/train/device/tensor_bridge.h"
#include "headway/train/train.h"

namespace headway {

// ---- modules as layers ----

struct ModuleOptions {
  Shape output{};  // of one sample, when it differs from the input's: rows x features, h x w x c
  std::string name{};
};

namespace internal {
Layer module_layer(std::shared_ptr<torch::nn::Module> module,
                   std::function<torch::Tensor(const torch::Tensor&)> forward,
                   ModuleOptions options);
}  // namespace internal

// Any module with a forward(Tensor) -> Tensor as a layer; alone in a Model, as the model. Images
// reach it as libtorch's N x C x H x W. Its weights are trained and saved in place.
//
//   Model model = Sequential({module_layer(torch::nn::Linear(784, 128), {.output = {128}}),
//                             Dense(10, {.activation = "softmax"})});
template <typename M>
Layer module_layer(std::shared_ptr<M> module, ModuleOptions options = {}) {
  auto forward = [module](const torch::Tensor& x) { return module->forward(x); };
  return internal::module_layer(module, std::move(forward), std::move(options));
}
template <typename M>
Layer module_layer(torch::nn::ModuleHolder<M> holder, ModuleOptions options = {}) {
  return module_layer(holder.ptr(), std::move(options));
}

// ---- the tensors of a model ----

// The network run on a batch in Keras' order (N x H x W x C), with autograd.
torch::Tensor call(Model& model, const torch::Tensor& batch, bool training = true);
std::vector<torch::Tensor> trainable_variables(Model& model);
torch::Device torch_device(Model& model);

// ---- your own loop ----

struct LoopOptions {
  Optimizer optimizer = Adam();
  // What is trained and saved: the weights of a model or a module, or tensors by name.
  Model* model = nullptr;
  std::shared_ptr<torch::nn::Module> module{};
  std::vector<std::pair<std::string, torch::Tensor>> parameters{};
  std::function<Logs()> validate{};  // shown as val_...
  FitOptions fit{};                  // epochs, callbacks, checkpoints, accumulation ...
};

// fit() with a loss of your own: forward pass and loss of a batch are yours, everything else
// (gradients, clipping, accumulation, callbacks, checkpoints, telemetry) is as in fit().
//
//   loop(photos, [&](Batch& b) {
//     const torch::Tensor out = call(model, to_torch(b["image"]));
//     return torch::nll_loss(out, to_torch(b["label"]));
//   }, {.optimizer = Adam({.clip = {.by_value = 1}}), .model = &model, .fit = {.epochs = 5}});
History loop(const Dataset& dataset, std::function<torch::Tensor(Batch&)> loss,
             LoopOptions options);

}  // namespace headway
