#include "headway/core/checked_size.h"

#include <algorithm>

namespace headway {

std::optional<uint64_t> checked_sum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

std::optional<uint64_t> checked_product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

bool lies_within(uint64_t offset, uint64_t length, uint64_t whole) {
  return offset <= whole && length <= whole - offset;
}

std::optional<uint64_t> checked_size_bytes(std::span<const int64_t> dims, DType dtype) {
  int64_t size = size_of(dtype);  // signed: a Shape counts in int64_t
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    empty |= dim == 0;
    if (__builtin_mul_overflow(size, std::max<int64_t>(dim, 1), &size)) return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(size);
}

}  // namespace headway
