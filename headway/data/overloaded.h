#pragma once

// Inside data/: one function per alternative of a variant.
namespace headway {

//   std::visit(Overloaded{[](const CropStep& s) { ... }, [](const auto&) { ... }}, step);
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce it for aggregates

}  // namespace headway
