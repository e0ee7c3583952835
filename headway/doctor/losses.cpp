#include "headway/doctor/losses.h"

#include <algorithm>
#include <cmath>

#include "headway/core/median.h"

namespace headway {

Losses::Losses(const Trace& trace) {
  if (trace.outside.seen) {
    for (const SeenLoss& loss : trace.outside.losses) values_.push_back(loss.value);
    from_the_start_ = trace.outside.launched;
  }
  // A redrawn progress bar repeats its loss; drop repetitions, unless all losses are equal.
  if (!same_to_the_digit())
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  std::vector<double> steps;
  for (size_t i = 1; i < values_.size(); ++i)
    steps.push_back(std::abs(values_[i] - values_[i - 1]));
  if (!steps.empty()) noise_ = median(std::move(steps)) / 0.954;  // of a difference: two of them
}

double Losses::mean(size_t from, size_t to) const {
  double sum = 0;
  for (size_t i = from; i < to; ++i) sum += values_[i];
  return to > from ? sum / double(to - from) : 0;
}

double Losses::first() const { return mean(0, std::max<size_t>(1, size() / 4)); }

double Losses::middle() const { return size() >= 4 ? mean(size() / 4, size() / 2) : first(); }

double Losses::last() const { return mean(size() - std::max<size_t>(1, size() / 4), size()); }

double Losses::lowest_late() const {
  return *std::min_element(values_.begin() + static_cast<long>(size() / 2), values_.end());
}

double Losses::lowest() const { return *std::min_element(values_.begin(), values_.end()); }

double Losses::highest() const { return *std::max_element(values_.begin(), values_.end()); }

double Losses::highest_early() const {
  const auto end = values_.begin() + static_cast<long>(std::max<size_t>(1, size() / 4));
  return *std::max_element(values_.begin(), end);
}

double Losses::highest_late() const {
  return *std::max_element(values_.begin() + static_cast<long>(size() / 2), values_.end());
}

double Losses::error() const { return noise_ * std::sqrt(2 / std::max(1.0, double(size()) / 4)); }

double Losses::swing(bool late) const {
  std::vector<double> steps;
  const size_t third = size() / 3;
  const size_t from = late ? size() - third : 0, to = late ? size() : third;
  for (size_t i = from + 1; i < to; ++i) steps.push_back(std::abs(values_[i] - values_[i - 1]));
  return steps.empty() ? 0 : median(std::move(steps));
}

bool Losses::same_to_the_digit() const {
  return !values_.empty() && std::all_of(values_.begin(), values_.end(),
                                         [&](double v) { return v == values_.front(); });
}

double Losses::turns() const {
  int64_t turned = 0, could = 0;
  for (size_t i = 2; i < values_.size(); ++i) {
    const double before = values_[i - 1] - values_[i - 2], now = values_[i] - values_[i - 1];
    if (before == 0 || now == 0) continue;
    ++could;
    turned += (before > 0) != (now > 0);
  }
  return could > 0 ? double(turned) / double(could) : 0;
}

}  // namespace headway
