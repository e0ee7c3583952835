#pragma once

#include "headway/core/error.h"
#include "headway/core/tensor.h"
#include "headway/data/sample_op.h"

namespace headway {

// Who is asked before memory for pixels is taken: for a result, for an image between two steps, for
// what a decoder needs beside the rows it gives. May throw to refuse it.
class PixelRoom {
 public:
  virtual ~PixelRoom() = default;
  virtual void take(int64_t height, int64_t width, int64_t channels, DType dtype) = 0;
};

// The room of one sample within the RAM budget of its pipeline. An image that cannot fit into the
// whole budget throws SampleError with the arithmetic; a large one that needs more than the sample
// was granted throws NeedsRoom, if somebody can grant it. Small ones pass: even one for each worker
// is a small part of the budget.
class BudgetedRoom : public PixelRoom {
 public:
  BudgetedRoom(const SampleContext& context, const Origin& origin)
      : context_(context), origin_(origin) {}

  void take(int64_t height, int64_t width, int64_t channels, DType dtype) override;
  // More was taken than should be kept for the next sample.
  bool is_large() const { return taken_bytes_ > kKept; }

 private:
  static constexpr int64_t kKept = 64 << 20;

  const SampleContext& context_;
  const Origin& origin_;
  int64_t taken_bytes_ = 0;
};

}  // namespace headway
