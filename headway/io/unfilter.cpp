#include "headway/io/unfilter.h"

#include <cstdlib>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headway/io/unfilter.cpp"
#include <hwy/foreach_target.h>  // compiles the rest once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headway {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <int kPixelBytes>
void unfilter_row(int filter, const uint8_t* raw, const uint8_t* above, int64_t row_bytes,
                  uint8_t* out) {
  for (int64_t i = 0; i < row_bytes; ++i) {
    const bool inner = i >= kPixelBytes;
    const int left = inner ? out[i - kPixelBytes] : 0, up = above[i];
    const int corner = inner ? above[i - kPixelBytes] : 0;
    const int from_left = std::abs(up - corner), from_up = std::abs(left - corner);
    const int from_corner = std::abs(left + up - 2 * corner);
    int predicted = 0;
    if (filter == 1) predicted = left;
    else if (filter == 2) predicted = up;
    else if (filter == 3) predicted = (left + up) / 2;
    else if (filter == 4 && from_left <= from_up && from_left <= from_corner) predicted = left;
    else if (filter == 4) predicted = from_up <= from_corner ? up : corner;
    out[i] = uint8_t(raw[i] + predicted);
  }
}

#else

// One pixel of up to 4 or up to 8 bytes. Whole vectors are stored: a pixel's surplus is overwritten
// by the next.
template <int kPixelBytes>
using Bytes = hn::FixedTag<uint8_t, kPixelBytes <= 4 ? 4 : 8>;

template <int kPixelBytes>
void undo_sub(const uint8_t* raw, int64_t row_bytes, uint8_t* out) {
  const Bytes<kPixelBytes> d;
  auto left = hn::Zero(d);
  for (int64_t i = 0; i < row_bytes; i += kPixelBytes) {
    left = hn::Add(left, hn::LoadU(d, raw + i));
    hn::StoreU(left, d, out + i);
  }
}

void undo_up(const uint8_t* raw, const uint8_t* above, int64_t row_bytes, uint8_t* out) {
  const hn::CappedTag<uint8_t, kUnfilterSlack> d;
  for (int64_t i = 0; i < row_bytes; i += int64_t(hn::Lanes(d))) {
    hn::StoreU(hn::Add(hn::LoadU(d, raw + i), hn::LoadU(d, above + i)), d, out + i);
  }
}

template <int kPixelBytes>
void undo_average(const uint8_t* raw, const uint8_t* above, int64_t row_bytes, uint8_t* out) {
  const Bytes<kPixelBytes> d;
  const auto one = hn::Set(d, 1);
  auto left = hn::Zero(d);
  for (int64_t i = 0; i < row_bytes; i += kPixelBytes) {
    const auto up = hn::LoadU(d, above + i);
    // The instruction rounds up, PNG down.
    const auto rounded_up = hn::And(hn::Xor(left, up), one);
    const auto mean = hn::Sub(hn::AverageRound(left, up), rounded_up);
    left = hn::Add(mean, hn::LoadU(d, raw + i));
    hn::StoreU(left, d, out + i);
  }
}

template <int kPixelBytes>
void undo_paeth(const uint8_t* raw, const uint8_t* above, int64_t row_bytes, uint8_t* out) {
  const Bytes<kPixelBytes> d;
  const hn::Rebind<int16_t, decltype(d)> wide;
  const auto low_byte = hn::Set(wide, 255);
  auto left = hn::Zero(wide), corner = hn::Zero(wide);
  for (int64_t i = 0; i < row_bytes; i += kPixelBytes) {
    const auto up = hn::PromoteTo(wide, hn::LoadU(d, above + i));
    const auto here = hn::PromoteTo(wide, hn::LoadU(d, raw + i));
    // With p = left + up - corner: |p - left|, |p - up|, |p - corner|. Only the last two wait for
    // the pixel before.
    const auto from_left = hn::Abs(hn::Sub(up, corner));
    const auto to_corner = hn::Sub(left, corner);
    const auto from_up = hn::Abs(to_corner);
    const auto from_corner = hn::Abs(hn::Add(to_corner, hn::Sub(up, corner)));
    const auto upper = hn::IfThenElse(hn::Gt(from_up, from_corner), corner, up);
    const auto not_left = hn::Gt(from_left, hn::Min(from_up, from_corner));
    const auto predicted = hn::IfThenElse(not_left, upper, left);
    left = hn::And(hn::Add(predicted, here), low_byte);
    corner = up;
    hn::StoreU(hn::DemoteTo(d, left), d, out + i);
  }
}

template <int kPixelBytes>
void unfilter_row(int filter, const uint8_t* raw, const uint8_t* above, int64_t row_bytes,
                  uint8_t* out) {
  switch (filter) {
    case 0: std::memcpy(out, raw, size_t(row_bytes)); return;
    case 1: return undo_sub<kPixelBytes>(raw, row_bytes, out);
    case 2: return undo_up(raw, above, row_bytes, out);
    case 3: return undo_average<kPixelBytes>(raw, above, row_bytes, out);
    default: return undo_paeth<kPixelBytes>(raw, above, row_bytes, out);
  }
}

#endif  // HWY_SCALAR

void unfilter_impl(int filter, const uint8_t* raw, const uint8_t* above, int64_t row_bytes,
                   int pixel_bytes, uint8_t* out) {
  switch (pixel_bytes) {
    case 1: return unfilter_row<1>(filter, raw, above, row_bytes, out);
    case 2: return unfilter_row<2>(filter, raw, above, row_bytes, out);
    case 3: return unfilter_row<3>(filter, raw, above, row_bytes, out);
    case 4: return unfilter_row<4>(filter, raw, above, row_bytes, out);
    case 6: return unfilter_row<6>(filter, raw, above, row_bytes, out);
    default: return unfilter_row<8>(filter, raw, above, row_bytes, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headway
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headway {

HWY_EXPORT(unfilter_impl);

void unfilter(int filter, const uint8_t* raw, const uint8_t* above, int64_t row_bytes,
              int pixel_bytes, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(unfilter_impl)(filter, raw, above, row_bytes, pixel_bytes, out);
}

}  // namespace headway
#endif  // HWY_ONCE
