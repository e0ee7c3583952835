#include "headway/train/model/activation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headway/core/error.h"
#include "headway/train/model/initializer.h"

namespace headway {
namespace {

template <typename Kind, size_t n>
Kind by_name(const char* what, const std::string_view (&names)[n], std::string_view name) {
  for (size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Kind>(i);
  throw Error(fmt::format("unknown {} '{}'", what, name),
              fmt::format("use one of {}", fmt::join(names, ", ")));
}

}  // namespace

Activation Activation::parse(std::string_view name) {
  return by_name<Kind>("activation", kNames, name);
}

Initializer Initializer::parse(std::string_view name) {
  return by_name<Kind>("initializer", kNames, name);
}

}  // namespace headway
