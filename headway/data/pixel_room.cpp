#include "headway/data/pixel_room.h"

#include <fmt/format.h>

#include "headway/data/ram_budget.h"

namespace headway {
namespace {

constexpr int64_t kNeverAsked = 1 << 20;
constexpr int64_t kSmallShare = 64;  // of the budget: smaller ones need not ask

}  // namespace

void BudgetedRoom::take(int64_t height, int64_t width, int64_t channels, DType dtype) {
  const auto each = static_cast<int64_t>(size_of(dtype));
  const int64_t bytes = height * width * channels * each;
  taken_bytes_ += bytes;
  if (!context_.ram || taken_bytes_ <= kNeverAsked) return;
  const int64_t limit = context_.ram->limit_bytes();
  if (taken_bytes_ > limit) {
    throw SampleError(
        origin_,
        fmt::format(
            "an image of {} x {} pixels of {} x {} bytes takes {} MB{}, more than the RAM budget "
            "of {} MB",
            height, width, channels, each, bytes >> 20,
            taken_bytes_ == bytes
                ? ""
                : fmt::format(", {} MB with the memory that decoding needs", taken_bytes_ >> 20),
            limit >> 20),
        "raise ram_budget_bytes (.with_options({.ram_budget_bytes = ...})), make the image file "
        "smaller, or resize or crop right after decoding, which then needs less memory");
  }
  if (context_.granted_bytes && taken_bytes_ > *context_.granted_bytes &&
      taken_bytes_ > limit / kSmallShare) {
    throw NeedsRoom{taken_bytes_};
  }
}

}  // namespace headway
