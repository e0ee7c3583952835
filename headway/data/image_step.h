#pragma once

#include <string>

#include "headway/data/image_chain.h"

// Inside data/: one step of an image chain in words, and whether it can be.
namespace headway {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce it for aggregates

inline constexpr int kMaxSide = 1 << 20;  // of an image

std::string describe_step(const ImageStep& step);  // "resize(224x224,bilinear)"
void check_step(const ImageStep& step);            // throws what is wrong with its settings

}  // namespace headway
