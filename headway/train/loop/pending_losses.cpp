#include "headway/train/loop/pending_losses.h"

#include <ATen/ATen.h>

#include <utility>

namespace headway {
namespace {

constexpr size_t kMaxPending = 8;

}  // namespace

void PendingLosses::add(at::Tensor loss, Batch batch, int64_t step, int64_t samples) {
  losses_.push_back(std::move(loss));
  steps_.push_back({.batch = std::move(batch), .step = step, .samples = samples});
}

bool PendingLosses::full() const { return losses_.size() >= kMaxPending; }

std::vector<FetchedLoss> PendingLosses::fetch() {
  if (losses_.empty()) return {};
  std::vector<at::Tensor> scalars;
  for (const at::Tensor& loss : losses_) scalars.push_back(loss.reshape({}).to(at::kDouble));
  const at::Tensor values = at::stack(scalars).cpu();
  losses_.clear();
  for (size_t i = 0; i < steps_.size(); ++i) steps_[i].value = values.data_ptr<double>()[i];
  return std::exchange(steps_, {});
}

}  // namespace headway
