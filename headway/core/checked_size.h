#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "headway/core/tensor.h"

// Arithmetic on sizes that a file claims: whatever it claims, nothing wraps.
namespace headway {

// Nothing when the result does not fit.
std::optional<uint64_t> checked_sum(uint64_t a, uint64_t b);
std::optional<uint64_t> checked_product(uint64_t a, uint64_t b);

// Do `length` bytes from `offset` on end within `whole` bytes?
bool lies_within(uint64_t offset, uint64_t length, uint64_t whole);

// What values of such a shape take; of strings, their views. Nothing when a dimension is negative
// or the product does not fit, even if only a zero among the dimensions hides that.
std::optional<uint64_t> checked_size_bytes(std::span<const int64_t> dims, DType dtype);

}  // namespace headway
