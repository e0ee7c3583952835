#include "headway/train/learn/optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "headway/core/error.h"

namespace headway {
namespace {

void check_share(const char* name, double value) {
  if (value >= 0 && value <= 1) return;
  throw Error(fmt::format("optimizer: invalid {} {:g}", name, value), "give a value from 0 to 1");
}

void check_not_negative(const char* name, double value) {
  if (value >= 0 && std::isfinite(value)) return;
  throw Error(fmt::format("optimizer: invalid {} {:g}", name, value),
              "give a finite number, 0 or more");
}

void check_clipping(const Clipping& clip) {
  check_not_negative("clip.by_value", clip.by_value.value_or(0));
  check_not_negative("clip.by_norm", clip.by_norm.value_or(0));
  check_not_negative("clip.by_global_norm", clip.by_global_norm.value_or(0));
  const int set = (clip.by_value > 0) + (clip.by_norm > 0) + (clip.by_global_norm > 0);
  if (set > 1)
    throw Error("optimizer: more than one kind of clipping is set",
                "set only one of clip.by_value, clip.by_norm and clip.by_global_norm");
}

Optimizer checked(Optimizer optimizer) {
  optimizer.check();
  return optimizer;
}

Optimizer adam(const AdamOptions& o) {
  return checked({.kind = Optimizer::Kind::kAdam,
                  .learning_rate = o.learning_rate,
                  .beta_1 = o.beta_1,
                  .beta_2 = o.beta_2,
                  .epsilon = o.epsilon,
                  .amsgrad = o.amsgrad,
                  .weight_decay = o.weight_decay,
                  .clip = o.clip});
}

std::string name_of(const Optimizer& o) {
  switch (o.kind) {
    case Optimizer::Kind::kSGD: return "sgd";
    case Optimizer::Kind::kAdam: return o.weight_decay > 0 ? "adamw" : "adam";
    case Optimizer::Kind::kRMSprop: return "rmsprop";
  }
  return "";
}

}  // namespace

void Optimizer::check() const {
  check_share("momentum", momentum);
  check_share("beta_1", beta_1);
  check_share("beta_2", beta_2);
  check_share("rho", rho);
  check_not_negative("epsilon", epsilon);
  check_not_negative("weight_decay", weight_decay);
  check_clipping(clip);
}

int Optimizer::slots() const {
  switch (kind) {
    case Kind::kSGD: return momentum > 0;
    case Kind::kAdam: return amsgrad ? 3 : 2;
    case Kind::kRMSprop: return 1 + (momentum > 0) + centered;
  }
  return 0;
}

std::string Optimizer::describe() const {
  std::string text = fmt::format("{}, learning rate {}", name_of(*this), learning_rate.describe());
  if (kind != Kind::kAdam && momentum > 0)
    text += fmt::format(", {}momentum {:g}", nesterov ? "nesterov " : "", momentum);
  if (kind == Kind::kAdam && amsgrad) text += ", amsgrad";
  if (kind == Kind::kRMSprop && centered) text += ", centered";
  if (weight_decay > 0) text += fmt::format(", weight decay {:g}", weight_decay);
  if (clip.by_value > 0) text += fmt::format(", values clipped at {:g}", *clip.by_value);
  if (clip.by_norm > 0) text += fmt::format(", norms clipped at {:g}", *clip.by_norm);
  if (clip.by_global_norm > 0)
    text += fmt::format(", global norm clipped at {:g}", *clip.by_global_norm);
  return text;
}

Optimizer SGD(SGDOptions o) {
  return checked({.kind = Optimizer::Kind::kSGD,
                  .learning_rate = o.learning_rate,
                  .momentum = o.momentum,
                  .nesterov = o.nesterov,
                  .weight_decay = o.weight_decay,
                  .clip = o.clip});
}

Optimizer Adam(AdamOptions options) { return adam(options); }

Optimizer AdamW(AdamWOptions o) {
  return adam({.learning_rate = o.learning_rate,
               .beta_1 = o.beta_1,
               .beta_2 = o.beta_2,
               .epsilon = o.epsilon,
               .amsgrad = o.amsgrad,
               .weight_decay = o.weight_decay,
               .clip = o.clip});
}

Optimizer RMSprop(RMSpropOptions o) {
  return checked({.kind = Optimizer::Kind::kRMSprop,
                  .learning_rate = o.learning_rate,
                  .momentum = o.momentum,
                  .rho = o.rho,
                  .epsilon = o.epsilon,
                  .centered = o.centered,
                  .weight_decay = o.weight_decay,
                  .clip = o.clip});
}

Optimizer SGD(double learning_rate) { return SGD(SGDOptions{.learning_rate = learning_rate}); }
Optimizer Adam(double learning_rate) { return Adam(AdamOptions{.learning_rate = learning_rate}); }
Optimizer AdamW(double learning_rate) {
  return AdamW(AdamWOptions{.learning_rate = learning_rate});
}
Optimizer RMSprop(double learning_rate) {
  return RMSprop(RMSpropOptions{.learning_rate = learning_rate});
}

}  // namespace headway
