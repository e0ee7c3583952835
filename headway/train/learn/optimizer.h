#pragma once

#include <optional>
#include <string>

#include "headway/train/learn/schedule.h"

namespace headway {

// Limits gradients before the step. At most one of these may be set, as in Keras.
struct Clipping {
  std::optional<double> by_value{};        // each value to -v .. v
  std::optional<double> by_norm{};         // each weight's gradient to this length
  std::optional<double> by_global_norm{};  // all of them together to this length
};

struct SGDOptions {
  Schedule learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  Clipping clip{};
};
struct AdamOptions {
  Schedule learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  double weight_decay = 0;
  Clipping clip{};
};
struct AdamWOptions {
  Schedule learning_rate = 0.001;
  double weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  Clipping clip{};
};
struct RMSpropOptions {
  Schedule learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
  double weight_decay = 0;
  Clipping clip{};
};

// Which rule moves the weights, with Keras' formulas and defaults.
//
//   model.compile({.optimizer = Adam(1e-3)});
//   model.compile({.optimizer = SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true})});
struct Optimizer {
  enum class Kind { kSGD, kAdam, kRMSprop };

  Kind kind = Kind::kRMSprop;  // Keras' default
  Schedule learning_rate = 0.001;
  double momentum = 0;
  bool nesterov = false;
  double beta_1 = 0.9, beta_2 = 0.999;
  double rho = 0.9;
  double epsilon = 1e-7;
  bool amsgrad = false, centered = false;
  double weight_decay = 0;  // decoupled: w -= w * weight_decay * learning_rate
  Clipping clip{};

  int slots() const;             // tensors kept per weight: 2 for Adam
  std::string describe() const;  // "adam, learning rate 0.001"
  void check() const;            // Error names the invalid setting; the functions below call it
};

Optimizer SGD(SGDOptions options = {});
Optimizer SGD(double learning_rate);
Optimizer Adam(AdamOptions options = {});
Optimizer Adam(double learning_rate);
Optimizer AdamW(AdamWOptions options = {});
Optimizer AdamW(double learning_rate);
Optimizer RMSprop(RMSpropOptions options = {});
Optimizer RMSprop(double learning_rate);

}  // namespace headway
