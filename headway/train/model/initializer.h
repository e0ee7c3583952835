#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway {

// How a weight is initialised, by Keras' names and with Keras' mean and variance.
//
//   Dense(128, {.kernel_initializer = "he_normal", .bias_initializer = Initializer::constant(0.1)})
class Initializer {
 public:
  enum Kind : uint8_t {
    kZeros,
    kOnes,
    kConstant,
    kGlorotUniform,
    kGlorotNormal,
    kHeUniform,
    kHeNormal,
    kLecunUniform,
    kLecunNormal,
    kOrthogonal,
    kRandomNormal,   // mean 0, deviation 0.05
    kRandomUniform,  // -0.05 .. 0.05
  };
  static constexpr std::string_view kNames[] = {
      "zeros",         "ones",       "constant",      "glorot_uniform",
      "glorot_normal", "he_uniform", "he_normal",     "lecun_uniform",
      "lecun_normal",  "orthogonal", "random_normal", "random_uniform"};

  constexpr Initializer(Kind kind, double value = 0) : kind_(kind), value_(value) {}
  consteval Initializer(const char* name) : kind_(find(name)) {}
  static constexpr Initializer constant(double value) { return {kConstant, value}; }
  static constexpr Initializer orthogonal(double gain = 1) { return {kOrthogonal, gain}; }
  static Initializer parse(std::string_view name);  // Error lists the known names

  constexpr Kind kind() const { return kind_; }
  // The constant; gain of orthogonal, deviation or bound of the random ones (0: Keras' default).
  constexpr double value() const { return value_; }
  constexpr std::string_view name() const { return kNames[kind_]; }

 private:
  static constexpr Kind find(std::string_view name) {
    for (uint8_t i = 0; i < std::size(kNames); ++i)
      if (kNames[i] == name) return static_cast<Kind>(i);
    throw "no initializer of this name";
  }

  Kind kind_ = kZeros;
  double value_ = 0;
};

// A penalty on a weight, added to the loss: l1 * sum|w| + l2 * sum(w * w).
struct Regularizer {
  double l1 = 0;
  double l2 = 0;

  explicit operator bool() const { return l1 != 0 || l2 != 0; }
};

}  // namespace headway
