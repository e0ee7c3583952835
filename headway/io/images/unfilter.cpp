#include "headway/io/images/unfilter.h"

#include <cstdlib>
#include <cstring>

// Each pixel waits for the one before, so latency decides: comparisons into AVX-512's mask
// registers would triple it. SSSE3 alone is left out to compile in half the time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headway/io/images/unfilter.cpp"
#include <hwy/foreach_target.h>  // compiles the rest once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headway {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // the baselines of g++ and of clang

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

// No rows at once.
template <int kPixelBytes>
int unfilter_group(const FilteredImage&, int, const uint8_t*, uint8_t*, int64_t) {
  return 0;
}

#else

template <typename V>
HWY_INLINE V distance(V a, V b) {
  return hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
}

// The instruction rounds up, PNG down.
template <typename D, typename V = hn::Vec<D>>
HWY_INLINE V mean(D d, V left, V up) {
  return hn::Sub(hn::AverageRound(left, up), hn::And(hn::Xor(left, up), hn::Set(d, 1)));
}

// Paeth's choice in bytes. With p = left + up - corner, |p - corner| may pass 255; saturated it is
// still not below the other two distances, which is all that counts.
template <typename V>
HWY_INLINE V paeth(V left, V up, V corner) {
  const V left_over = hn::SaturatedSub(left, corner), left_under = hn::SaturatedSub(corner, left);
  const V up_over = hn::SaturatedSub(up, corner), up_under = hn::SaturatedSub(corner, up);
  const V from_left = hn::Or(up_over, up_under);
  const V from_up = hn::Or(left_over, left_under);
  const V from_corner =
      distance(hn::SaturatedAdd(left_over, up_over), hn::SaturatedAdd(left_under, up_under));
  const V nearer = hn::Min(from_up, from_corner);
  const V other = hn::IfThenElse(hn::Eq(nearer, from_up), up, corner);
  return hn::IfThenElse(hn::Eq(hn::Min(from_left, nearer), from_left), left, other);
}

// ---- one row ----

// One pixel of up to 4 or up to 8 bytes. Whole vectors are stored: a pixel's surplus is overwritten
// by the next.
template <int kPixelBytes>
using Pixel = hn::FixedTag<uint8_t, kPixelBytes <= 4 ? 4 : 8>;

void undo_up(const uint8_t* raw, const uint8_t* above, int64_t row_bytes, uint8_t* out) {
  const hn::CappedTag<uint8_t, kUnfilterSlack> d;
  for (int64_t i = 0; i < row_bytes; i += int64_t(hn::Lanes(d))) {
    hn::StoreU(hn::Add(hn::LoadU(d, raw + i), hn::LoadU(d, above + i)), d, out + i);
  }
}

// `predict(left, up, corner)` for each pixel in turn.
template <int kPixelBytes, typename Predict>
HWY_INLINE void undo_pixelwise(const uint8_t* raw, const uint8_t* above, int64_t row_bytes,
                               uint8_t* out, const Predict& predict) {
  const Pixel<kPixelBytes> d;
  auto left = hn::Zero(d), corner = hn::Zero(d);
  for (int64_t i = 0; i < row_bytes; i += kPixelBytes) {
    const auto up = hn::LoadU(d, above + i);
    left = hn::Add(predict(left, up, corner), hn::LoadU(d, raw + i));
    corner = up;
    hn::StoreU(left, d, out + i);
  }
}

template <int kPixelBytes>
void unfilter_row(int filter, const uint8_t* raw, const uint8_t* above, int64_t row_bytes,
                  uint8_t* out) {
  const Pixel<kPixelBytes> d;
  using V = hn::Vec<decltype(d)>;
  switch (filter) {
    case 0: std::memcpy(out, raw, size_t(row_bytes)); return;
    case 1:
      return undo_pixelwise<kPixelBytes>(raw, above, row_bytes, out,
                                         [](V left, V, V) { return left; });
    case 2: return undo_up(raw, above, row_bytes, out);
    case 3:
      return undo_pixelwise<kPixelBytes>(raw, above, row_bytes, out,
                                         [d](V left, V up, V) { return mean(d, left, up); });
    default:
      return undo_pixelwise<kPixelBytes>(raw, above, row_bytes, out, [](V left, V up, V corner) {
        return paeth(left, up, corner);
      });
  }
}

// ---- four rows at once ----

// A row can follow the one above at a distance of kLag pixels. One vector holds a pixel of each of
// four rows (4 bytes a row), so the four walk along together for the price of one.
constexpr int kRows = 4;
constexpr int kLag = 2;

using Four = hn::FixedTag<uint8_t, 16>;
using Words = hn::FixedTag<uint32_t, 4>;
using V4 = hn::Vec<Four>;

// v[i] lane k <-> v[k] lane i, lanes of 4 bytes.
HWY_INLINE void transpose(V4 v[4]) {
  const Words w;
  const hn::FixedTag<uint64_t, 2> q;
  const Four d;
  const auto a = hn::BitCast(w, v[0]), b = hn::BitCast(w, v[1]);
  const auto c = hn::BitCast(w, v[2]), e = hn::BitCast(w, v[3]);
  const auto ab_low = hn::BitCast(q, hn::InterleaveLower(w, a, b));
  const auto ab_high = hn::BitCast(q, hn::InterleaveUpper(w, a, b));
  const auto ce_low = hn::BitCast(q, hn::InterleaveLower(w, c, e));
  const auto ce_high = hn::BitCast(q, hn::InterleaveUpper(w, c, e));
  v[0] = hn::BitCast(d, hn::InterleaveLower(q, ab_low, ce_low));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(q, ab_low, ce_low));
  v[2] = hn::BitCast(d, hn::InterleaveLower(q, ab_high, ce_high));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(q, ab_high, ce_high));
}

constexpr uint8_t kNone = 0x80;
alignas(16) constexpr uint8_t kSpread3[16] = {0, 1, 2, kNone, 3, 4,  5,  kNone,
                                              6, 7, 8, kNone, 9, 10, 11, kNone};
alignas(16) constexpr uint8_t kPack3[16] = {0,  1,  2,  4,  5,     6,     8,     9,
                                            10, 12, 13, 14, kNone, kNone, kNone, kNone};

// Four pixels, each in 4 bytes.
template <int kPixelBytes>
HWY_INLINE V4 load_pixels(const uint8_t* from) {
  const Four d;
  const V4 v = hn::LoadU(d, from);
  if constexpr (kPixelBytes == 4) return v;
  return hn::TableLookupBytesOr0(v, hn::Load(d, kSpread3));
}

template <int kPixelBytes>
HWY_INLINE void store_pixels(V4 v, uint8_t* to) {
  const Four d;
  if constexpr (kPixelBytes == 3) v = hn::TableLookupBytesOr0(v, hn::Load(d, kPack3));
  hn::StoreU(v, d, to);
}

// Which rows have a filter, as bytes of ones.
HWY_NOINLINE V4 rows_with(const uint8_t* filters, int filter) {
  alignas(16) uint32_t mask[4];
  for (int k = 0; k < 4; ++k) mask[k] = filters[k] == filter ? 0xFFFFFFFF : 0;
  return hn::BitCast(Four(), hn::Load(Words(), mask));
}

// Rows that have not begun at time t stay 0.
HWY_NOINLINE V4 rows_begun(int64_t t) {
  alignas(16) uint32_t mask[4];
  for (int k = 0; k < 4; ++k) mask[k] = t >= kLag * k ? 0xFFFFFFFF : 0;
  return hn::BitCast(Four(), hn::Load(Words(), mask));
}

template <int kPixelBytes>
struct Walk {
  explicit Walk(const uint8_t* filters)
      : as_left(rows_with(filters, 1)),
        as_up(rows_with(filters, 2)),
        as_mean(rows_with(filters, 3)),
        as_paeth(rows_with(filters, 4)) {}

  // `above` is the pixel over the first row, in its lane.
  HWY_INLINE V4 step(V4 raw, V4 above) {
    const Four d;
    const V4 up = hn::Or(hn::ShiftLeftBytes<4>(d, before), above);
    V4 predicted = hn::Or(hn::And(left, as_left), hn::And(up, as_up));
    predicted = hn::Or(predicted, hn::And(mean(d, left, up), as_mean));
    predicted = hn::Or(predicted, hn::And(paeth(left, up, corner), as_paeth));
    before = left;
    corner = up;
    left = hn::Add(predicted, raw);
    return left;
  }

  template <bool kBeginning>
  HWY_INLINE void four_steps(const uint8_t* const raw[4], const uint8_t* above,
                             uint8_t* const out[4], int64_t t) {
    const Four d;
    alignas(16) static constexpr uint32_t kFirst[4] = {0xFFFFFFFF, 0, 0, 0};
    const V4 first_row = hn::BitCast(d, hn::Load(Words(), kFirst));
    V4 v[4];
    for (int k = 0; k < 4; ++k)
      v[k] = load_pixels<kPixelBytes>(raw[k] + (t - kLag * k) * kPixelBytes);
    transpose(v);
    const V4 over = load_pixels<kPixelBytes>(above + t * kPixelBytes);
    v[0] = step(v[0], hn::And(over, first_row));
    if (kBeginning) v[0] = left = hn::And(left, rows_begun(t));
    v[1] = step(v[1], hn::And(hn::ShiftRightBytes<4>(d, over), first_row));
    if (kBeginning) v[1] = left = hn::And(left, rows_begun(t + 1));
    v[2] = step(v[2], hn::And(hn::ShiftRightBytes<8>(d, over), first_row));
    if (kBeginning) v[2] = left = hn::And(left, rows_begun(t + 2));
    v[3] = step(v[3], hn::ShiftRightBytes<12>(d, over));
    if (kBeginning) v[3] = left = hn::And(left, rows_begun(t + 3));
    transpose(v);
    for (int k = 0; k < 4; ++k)
      store_pixels<kPixelBytes>(v[k], out[k] + (t - kLag * k) * kPixelBytes);
  }

  V4 as_left, as_up, as_mean, as_paeth;
  V4 left = hn::Zero(Four());    // a time step ago
  V4 before = hn::Zero(Four());  // two steps ago
  V4 corner = hn::Zero(Four());
};

template <int kPixelBytes>
void walk_rows(const uint8_t* filters, const uint8_t* const raw[4], const uint8_t* above,
               int64_t width, uint8_t* const out[4]) {
  Walk<kPixelBytes> walk(filters);
  constexpr int64_t kBegun = kLag * (kRows - 1);
  int64_t t = 0;
  for (; t < kBegun; t += 4) walk.template four_steps<true>(raw, above, out, t);
  for (; t < width + kBegun; t += 4) walk.template four_steps<false>(raw, above, out, t);
}

// Undoes `kRows` rows if that can be done at once; tells how many were.
template <int kPixelBytes>
int unfilter_group(const FilteredImage& image, int first, const uint8_t* above, uint8_t* out,
                   int64_t out_stride) {
  constexpr int64_t kMinWidth = 8;
  const int64_t width = image.row_bytes / kPixelBytes;
  if (image.rows - first < kRows || width < kMinWidth) return 0;
  const uint8_t* raw[kRows];
  uint8_t* to[kRows];
  uint8_t filters[kRows];
  int serial = 0;
  for (int k = 0; k < kRows; ++k) {
    const uint8_t* row = image.filtered + (first + k) * (image.row_bytes + 1);
    filters[k] = row[0];
    if (filters[k] > 4) return 0;
    serial += filters[k] == 1 || filters[k] >= 3;
    raw[k] = row + 1;
    to[k] = out + k * out_stride;
  }
  if (serial < 2) return 0;  // rows without a chain are faster alone
  walk_rows<kPixelBytes>(filters, raw, above, width, to);
  return kRows;
}

#endif

template <int kPixelBytes>
int unfilter_rows(const FilteredImage& image, uint8_t* out, int64_t out_stride) {
  const uint8_t* above = image.zeros;
  for (int y = 0; y < image.rows;) {
    int done = 0;
    if constexpr (kPixelBytes == 3 || kPixelBytes == 4) {
      done = unfilter_group<kPixelBytes>(image, y, above, out, out_stride);
    }
    if (done == 0) {
      const uint8_t* row = image.filtered + y * (image.row_bytes + 1);
      if (*row > 4) return y;
      unfilter_row<kPixelBytes>(*row, row + 1, above, image.row_bytes, out);
      done = 1;
    }
    y += done;
    above = out + (done - 1) * out_stride;
    out += done * out_stride;
  }
  return -1;
}

int unfilter_impl(const FilteredImage& image, uint8_t* out, int64_t out_stride) {
  switch (image.pixel_bytes) {
    case 1: return unfilter_rows<1>(image, out, out_stride);
    case 2: return unfilter_rows<2>(image, out, out_stride);
    case 3: return unfilter_rows<3>(image, out, out_stride);
    case 4: return unfilter_rows<4>(image, out, out_stride);
    case 6: return unfilter_rows<6>(image, out, out_stride);
    default: return unfilter_rows<8>(image, out, out_stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headway
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headway {

HWY_EXPORT(unfilter_impl);

std::optional<int> unfilter(const FilteredImage& image, uint8_t* out, int64_t out_stride) {
  const int bad_row = HWY_DYNAMIC_DISPATCH(unfilter_impl)(image, out, out_stride);
  return bad_row < 0 ? std::nullopt : std::optional(bad_row);
}

}  // namespace headway
#endif  // HWY_ONCE
