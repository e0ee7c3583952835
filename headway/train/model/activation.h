#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway {

// Keras' activations by Keras' names. A name written in the program is checked by the compiler;
// one that is read from a file is checked by parse().
//
//   Dense(128, {.activation = "relu"})
class Activation {
 public:
  enum Kind : uint8_t {
    kLinear,
    kRelu,
    kRelu6,
    kLeakyRelu,  // slope 0.2
    kElu,
    kSelu,
    kGelu,  // exact, by erf
    kSilu,
    kSigmoid,
    kTanh,
    kSoftplus,
    kSoftmax,
  };
  static constexpr std::string_view kNames[] = {"linear",  "relu", "relu6",    "leaky_relu",
                                                "elu",     "selu", "gelu",     "silu",
                                                "sigmoid", "tanh", "softplus", "softmax"};

  constexpr Activation() = default;
  constexpr Activation(Kind kind) : kind_(kind) {}
  consteval Activation(const char* name) : kind_(find(name)) {}
  static Activation parse(std::string_view name);  // Error lists the known names

  constexpr Kind kind() const { return kind_; }
  constexpr std::string_view name() const { return kNames[kind_]; }
  constexpr bool operator==(const Activation&) const = default;

 private:
  static constexpr Kind find(std::string_view name) {
    for (uint8_t i = 0; i < std::size(kNames); ++i)
      if (kNames[i] == name) return static_cast<Kind>(i);
    throw "no activation of this name";
  }

  Kind kind_ = kLinear;
};

}  // namespace headway
