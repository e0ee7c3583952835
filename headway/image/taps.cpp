#include "headway/image/taps.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace headway {
namespace {

constexpr int kPad = 64;  // weights are read in whole vectors
constexpr int kCubicSteps = 1024;

// Keys' cubic with a = -0.5.
float keys_cubic(float x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
  return (1.5f * x - 2.5f) * x * x + 1.0f;
}

float triangle(float x) { return std::max(0.0f, 1.0f - std::abs(x)); }

bool widened(const AxisGeometry& axis) {
  return axis.antialias && (axis.filter == Filter::kBilinear || axis.filter == Filter::kBicubic);
}

// How one wanted pixel is made, before clamping to the image: everything make_taps needs.
class Sampler {
 public:
  explicit Sampler(const AxisGeometry& axis) : axis_(axis), scale_(axis.span / float(axis.out)) {
    if (widened(axis)) {
      // tf's ScaleAndTranslate goes through the forward scale.
      inverse_ = float(1.0 / (float(axis.out) / axis.span));
      kernel_scale_ = std::max(inverse_, 1.0f);
      radius_ = (axis.filter == Filter::kBilinear ? 1.0f : 2.0f) * kernel_scale_;
    }
  }

  int size() const {
    int taps = 1;
    if (widened(axis_)) taps = 2 * int(std::ceil(radius_)) + 1;
    else if (axis_.filter == Filter::kBilinear) taps = 2;
    else if (axis_.filter == Filter::kBicubic) taps = 4;
    else if (axis_.filter == Filter::kArea) taps = int(std::ceil(scale_)) + 1;
    return std::min(taps, axis_.in);
  }

  // First of the size() neighbours of output pixel i.
  int start(int i) const { return std::clamp(unclamped_start(i), 0, axis_.in - size()); }

  // Adds the weights of output pixel i: `add(k, weight)` with k counted from start(i).
  template <typename Add>
  void weigh(int i, Add&& add) const {
    const int from = start(i);
    if (widened(axis_)) return weigh_widened(i, from, add);
    switch (axis_.filter) {
      case Filter::kNearest: return add(0, 1.0f);
      case Filter::kBilinear: return weigh_bilinear(i, from, add);
      case Filter::kBicubic: return weigh_bicubic(i, from, add);
      case Filter::kArea: return weigh_area(i, from, add);
    }
  }

 private:
  float centre(int i) const { return (float(i) + 0.5f) * scale_ - 0.5f + axis_.offset; }
  float widened_centre(int i) const { return (float(i) + 0.5f) * inverse_ + axis_.offset; }

  int unclamped_start(int i) const {
    if (widened(axis_)) return int(std::ceil(widened_centre(i) - radius_ - 0.5f));
    switch (axis_.filter) {
      case Filter::kNearest: return int(std::floor((float(i) + 0.5f) * scale_ + axis_.offset));
      case Filter::kBilinear: return int(std::floor(centre(i)));
      case Filter::kBicubic: return int(std::floor(centre(i))) - 1;
      case Filter::kArea: return int(std::floor(float(i) * scale_ + axis_.offset));
    }
    return 0;
  }

  template <typename Add>
  void weigh_bilinear(int i, int from, Add& add) const {
    const float at = centre(i), base = std::floor(at);
    const float fraction = at - base;
    const int lower = std::max(int(base), 0);
    const int upper = std::min(int(base) + (fraction > 0), axis_.in - 1);
    add(lower - from, 1.0f - fraction);
    add(std::max(upper, 0) - from, fraction);
  }

  // tf quantises the fraction to 1/1024, drops neighbours outside and renormalises.
  template <typename Add>
  void weigh_bicubic(int i, int from, Add& add) const {
    const float at = centre(i);
    const int base = int(std::floor(at));
    const float fraction = float(std::lrint((at - float(base)) * kCubicSteps)) / kCubicSteps;
    float weights[4], sum = 0;
    for (int k = 0; k < 4; ++k) {
      const int source = base - 1 + k;
      weights[k] = source < 0 || source >= axis_.in ? 0 : keys_cubic(fraction + 1 - float(k));
      sum += weights[k];
    }
    for (int k = 0; k < 4; ++k) {
      if (weights[k] != 0) add(base - 1 + k - from, weights[k] / sum);
    }
  }

  template <typename Add>
  void weigh_area(int i, int from, Add& add) const {
    const float low = float(i) * scale_ + axis_.offset, high = float(i + 1) * scale_ + axis_.offset;
    const int last = int(std::ceil(high));
    for (int source = int(std::floor(low)); source < last; ++source) {
      const float covered = std::min(float(source + 1), high) - std::max(float(source), low);
      const int clamped = std::min(source, axis_.in - 1);
      if (covered > 0) add(clamped - from, covered / scale_);
    }
  }

  template <typename Add>
  void weigh_widened(int i, int from, Add& add) const {
    const float at = widened_centre(i);
    const int first = std::max(0, int(std::ceil(at - radius_ - 0.5f)));
    const int last = std::min(axis_.in - 1, int(std::floor(at + radius_ - 0.5f)));
    const auto kernel = axis_.filter == Filter::kBilinear ? triangle : keys_cubic;
    const float shrink = 1.0f / kernel_scale_;
    float sum = 0;
    for (int s = first; s <= last; ++s) sum += kernel((float(s) + 0.5f - at) * shrink);
    if (std::abs(sum) < 1000 * std::numeric_limits<float>::min()) return;
    for (int s = first; s <= last; ++s)
      add(s - from, kernel((float(s) + 0.5f - at) * shrink) / sum);
  }

  const AxisGeometry& axis_;
  float scale_;
  float inverse_ = 1;
  float kernel_scale_ = 1;
  float radius_ = 0;
};

}  // namespace

Extent extent_of(const AxisGeometry& axis) {
  const Sampler sampler(axis);
  const int origin = sampler.start(axis.first);
  return {origin, sampler.start(axis.first + axis.count - 1) + sampler.size() - origin};
}

void make_taps(const AxisGeometry& axis, Taps& taps) {
  assert(axis.in > 0 && axis.count > 0 && axis.first + axis.count <= axis.out);
  const Sampler sampler(axis);
  const Extent extent = extent_of(axis);
  taps.size = sampler.size();
  taps.origin = extent.origin;
  taps.extent = extent.size;
  taps.stride = axis.count + kPad;
  taps.start.assign(taps.stride, 0);
  taps.weights.assign(taps.stride * taps.size, 0.0f);
  for (int i = 0; i < axis.count; ++i) {
    const int wanted = axis.first + (axis.mirrored ? axis.count - 1 - i : i);
    taps.start[i] = sampler.start(wanted) - taps.origin;
    sampler.weigh(wanted, [&](int k, float weight) {
      assert(k >= 0 && k < taps.size);
      taps.weight(k)[i] += weight;
    });
  }
}

}  // namespace headway
