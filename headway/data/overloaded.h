#pragma once

// Inside data/: one function per alternative of a variant. Without a function for all others: then
// a new alternative does not compile until it is dealt with.
namespace headway {

//   std::visit(Overloaded{[](const CropStep& s) { ... }, [](const FlipStep& s) { ... }, ...},
//   step);
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce it for aggregates

}  // namespace headway
