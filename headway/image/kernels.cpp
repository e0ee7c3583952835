#include "headway/image/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Not AVX-512: its wide vectors slow the processor down for the decoder between our calls (T1 and
// T2 took 6 to 7% longer), and at 256 bits it gains nothing. SSSE3 alone is left out to compile
// faster.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headway/image/kernels.cpp"
#include <hwy/foreach_target.h>  // compiles the rest once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headway::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;

int lane_count() { return int(hn::Lanes(F())); }

// ---- split_channels ----

template <int kChannels, typename T>
HWY_INLINE void split_at(const T* row, T* planes, int64_t stride, int64_t x) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> a, b, c, e;
  if constexpr (kChannels == 2) {
    hn::LoadInterleaved2(d, row + 2 * x, a, b);
  } else if constexpr (kChannels == 3) {
    hn::LoadInterleaved3(d, row + 3 * x, a, b, c);
  } else {
    hn::LoadInterleaved4(d, row + 4 * x, a, b, c, e);
  }
  hn::StoreU(a, d, planes + x);
  hn::StoreU(b, d, planes + stride + x);
  if constexpr (kChannels > 2) hn::StoreU(c, d, planes + 2 * stride + x);
  if constexpr (kChannels > 3) hn::StoreU(e, d, planes + 3 * stride + x);
}

template <int kChannels, typename T>
void split_row(const T* HWY_RESTRICT row, int width, T* HWY_RESTRICT planes, int64_t stride) {
  const int64_t n = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  if (width < n) {
    for (int64_t x = 0; x < width; ++x) {
      for (int c = 0; c < kChannels; ++c) planes[c * stride + x] = row[x * kChannels + c];
    }
    return;
  }
  int64_t x = 0;
  for (; x + n <= width; x += n) split_at<kChannels>(row, planes, stride, x);
  // The last vector overlaps the one before instead of reading beyond the row.
  if (x < width) split_at<kChannels>(row, planes, stride, width - n);
}

template <typename T>
void split_typed(const void* row, int width, int channels, void* planes, int64_t stride_bytes) {
  const T* from = static_cast<const T*>(row);
  T* to = static_cast<T*>(planes);
  const int64_t stride = stride_bytes / int64_t(sizeof(T));
  switch (channels) {
    case 1: std::memcpy(to, from, sizeof(T) * size_t(width)); return;
    case 2: return split_row<2>(from, width, to, stride);
    case 3: return split_row<3>(from, width, to, stride);
    default: return split_row<4>(from, width, to, stride);
  }
}

void split_channels_impl(DType dtype, const void* row, int width, int channels, void* planes,
                         int64_t plane_stride_bytes) {
  if (dtype == DType::kUInt8) {
    split_typed<uint8_t>(row, width, channels, planes, plane_stride_bytes);
  } else if (dtype == DType::kUInt16) {
    split_typed<uint16_t>(row, width, channels, planes, plane_stride_bytes);
  } else {
    split_typed<float>(row, width, channels, planes, plane_stride_bytes);
  }
}

// ---- blend ----

template <typename T>
HWY_INLINE VF load_float(const T* from) {
  if constexpr (sizeof(T) == 4) {
    return hn::LoadU(F(), from);
  } else {
    const hn::Rebind<T, F> narrow;
    return hn::ConvertTo(F(), hn::PromoteTo(I(), hn::LoadU(narrow, from)));
  }
}

template <typename T, int kTaps>
void blend_plane(const T* const* rows, const float* weights, int taps, float scale, float bias,
                 int width, float* HWY_RESTRICT out) {
  const F d;
  const int n = int(hn::Lanes(d));
  const VF add = hn::Set(d, bias);
  if constexpr (kTaps == 2) {
    const VF wa = hn::Set(d, weights[0] * scale), wb = hn::Set(d, weights[1] * scale);
    const T* HWY_RESTRICT a = rows[0];
    const T* HWY_RESTRICT b = rows[1];
    for (int x = 0; x < width; x += n) {
      const VF lower = hn::MulAdd(load_float(b + x), wb, add);
      hn::StoreU(hn::MulAdd(load_float(a + x), wa, lower), d, out + x);
    }
    return;
  }
  // Four vectors at a time: the sums stay in registers over all rows.
  for (int x = 0; x < width; x += 4 * n) {
    VF s0 = add, s1 = add, s2 = add, s3 = add;
    for (int k = 0; k < taps; ++k) {
      const VF w = hn::Set(d, weights[k] * scale);
      const T* HWY_RESTRICT row = rows[k] + x;
      s0 = hn::MulAdd(load_float(row), w, s0);
      s1 = hn::MulAdd(load_float(row + n), w, s1);
      s2 = hn::MulAdd(load_float(row + 2 * n), w, s2);
      s3 = hn::MulAdd(load_float(row + 3 * n), w, s3);
    }
    hn::StoreU(s0, d, out + x);
    hn::StoreU(s1, d, out + x + n);
    hn::StoreU(s2, d, out + x + 2 * n);
    hn::StoreU(s3, d, out + x + 3 * n);
  }
}

template <typename T>
void blend_typed(const Blend& job) {
  constexpr int kFew = 32;
  const T* few[kFew];
  for (int c = 0; c < job.channels; ++c) {
    const int64_t plane = c * job.plane_stride_bytes;
    float* out = job.out + c * job.out_stride;
    // More rows than fit are summed in rounds; the later ones add to what is there.
    float bias = job.bias[c];
    for (int first = 0; first < job.taps; first += kFew) {
      const int taps = std::min(kFew, job.taps - first);
      for (int k = 0; k < taps; ++k) {
        few[k] =
            reinterpret_cast<const T*>(static_cast<const uint8_t*>(job.rows[first + k]) + plane);
      }
      const float* weights = job.weights + first;
      if (first > 0) {
        for (int k = 0; k < taps; ++k) {
          const float w = weights[k] * job.scale[c];
          const F d;
          for (int x = 0; x < job.width; x += int(hn::Lanes(d))) {
            hn::StoreU(hn::MulAdd(load_float(few[k] + x), hn::Set(d, w), hn::LoadU(d, out + x)), d,
                       out + x);
          }
        }
      } else if (job.taps == 2) {
        blend_plane<T, 2>(few, weights, 2, job.scale[c], bias, job.width, out);
      } else {
        blend_plane<T, 0>(few, weights, taps, job.scale[c], bias, job.width, out);
      }
    }
  }
}

void blend_impl(const Blend& job) {
  if (job.dtype == DType::kUInt8) {
    blend_typed<uint8_t>(job);
  } else if (job.dtype == DType::kUInt16) {
    blend_typed<uint16_t>(job);
  } else {
    blend_typed<float>(job);
  }
}

// ---- gather ----

// Looks up lanes of two neighbouring vectors.
struct Lookup {
  explicit Lookup(const int32_t* relative) : Lookup(hn::LoadU(I(), relative)) {}
  explicit Lookup(hn::Vec<I> index)
      : inside(hn::IndicesFromVec(F(), hn::And(index, hn::Set(I(), int32_t(hn::Lanes(I())) - 1)))),
        second(hn::RebindMask(F(), hn::Gt(index, hn::Set(I(), int32_t(hn::Lanes(I())) - 1)))) {}
  HWY_INLINE VF operator()(const float* plane) const {
    const F d;
    return hn::IfThenElse(second, hn::TableLookupLanes(hn::LoadU(d, plane + hn::Lanes(d)), inside),
                          hn::TableLookupLanes(hn::LoadU(d, plane), inside));
  }
  decltype(hn::IndicesFromVec(F(), hn::Vec<I>())) inside;
  hn::Mask<F> second;
};

// The same for columns that are far apart.
struct WideLookup {
  explicit WideLookup(const int32_t* relative) : relative(relative) {}
  HWY_INLINE VF operator()(const float* plane) const {
    HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
    for (size_t i = 0; i < hn::Lanes(F()); ++i) values[i] = plane[relative[i]];
    return hn::Load(F(), values);
  }
  const int32_t* relative;
};

template <int kTaps, typename LookupType>
HWY_INLINE VF column_sum(const LookupType& lookup, const float* plane, const Columns& columns,
                         int x) {
  const F d;
  const VF first = lookup(plane);
  if constexpr (kTaps == 1) return first;
  if constexpr (kTaps == 2) {
    const VF fraction = hn::LoadU(d, columns.weights + columns.weight_stride + x);
    return hn::MulAdd(hn::Sub(lookup(plane + 1), first), fraction, first);
  }
  VF sum = hn::Mul(first, hn::LoadU(d, columns.weights + x));
  for (int k = 1; k < columns.taps; ++k) {
    const VF weight = hn::LoadU(d, columns.weights + k * columns.weight_stride + x);
    sum = hn::MulAdd(lookup(plane + k), weight, sum);
  }
  return sum;
}

struct Store {
  float* out;
  int64_t plane_stride;  // 0: interleaved
  bool bypass_cache;

  template <int kChannels>
  HWY_INLINE void whole(const VF* v, int x) const {
    const F d;
    if (plane_stride == 0) return interleaved<kChannels>(v, out + int64_t{x} * kChannels);
    for (int c = 0; c < kChannels; ++c) {
      float* to = out + c * plane_stride + x;
      if (bypass_cache) hn::Stream(v[c], d, to);
      else hn::StoreU(v[c], d, to);
    }
  }

  template <int kChannels>
  HWY_INLINE void part(const VF* v, int x, int count) const {
    const F d;
    HWY_ALIGN float values[4 * HWY_MAX_BYTES / sizeof(float)];
    if (plane_stride == 0) {
      interleaved<kChannels>(v, values);
      std::memcpy(out + int64_t{x} * kChannels, values, sizeof(float) * size_t(count) * kChannels);
      return;
    }
    for (int c = 0; c < kChannels; ++c) {
      hn::Store(v[c], d, values);
      std::memcpy(out + c * plane_stride + x, values, sizeof(float) * size_t(count));
    }
  }

 private:
  template <int kChannels>
  HWY_INLINE void interleaved(const VF* v, float* to) const {
    const F d;
    if constexpr (kChannels == 1) hn::StoreU(v[0], d, to);
    if constexpr (kChannels == 2) hn::StoreInterleaved2(v[0], v[1], d, to);
    if constexpr (kChannels == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, to);
    if constexpr (kChannels == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, to);
  }
};

template <int kTaps, int kChannels, typename LookupType>
HWY_INLINE void gather_block(const Columns& columns, const Gather& job, const Store& store, int x,
                             int base) {
  const int n = int(hn::Lanes(F()));
  const LookupType lookup(columns.relative + x);
  VF v[kChannels];
  for (int c = 0; c < kChannels; ++c) {
    v[c] = column_sum<kTaps>(lookup, job.planes + c * job.plane_stride + base, columns, x);
  }
  const int left = columns.count - x;
  if (left >= n) store.whole<kChannels>(v, x);
  else store.part<kChannels>(v, x, left);
}

template <int kTaps, int kChannels>
void gather_row(const Columns& columns, const Gather& job) {
  const int n = int(hn::Lanes(F()));
  const Store store{job.out, job.out_plane_stride, job.bypass_cache};
  for (int x = 0, block = 0; x < columns.count; x += n, ++block) {
    const int base = columns.base[block];
    if (columns.narrow[block]) gather_block<kTaps, kChannels, Lookup>(columns, job, store, x, base);
    else gather_block<kTaps, kChannels, WideLookup>(columns, job, store, x, base);
  }
}

template <int kTaps>
void gather_channels(const Columns& columns, const Gather& job) {
  switch (job.channels) {
    case 1: return gather_row<kTaps, 1>(columns, job);
    case 2: return gather_row<kTaps, 2>(columns, job);
    case 3: return gather_row<kTaps, 3>(columns, job);
    default: return gather_row<kTaps, 4>(columns, job);
  }
}

void gather_impl(const Columns& columns, const Gather& job) {
  switch (columns.taps) {
    case 1: return gather_channels<1>(columns, job);
    case 2: return gather_channels<2>(columns, job);
    default: return gather_channels<0>(columns, job);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headway::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headway::kernels {

HWY_EXPORT(lane_count);
HWY_EXPORT(split_channels_impl);
HWY_EXPORT(blend_impl);
HWY_EXPORT(gather_impl);

int lanes() { return HWY_DYNAMIC_DISPATCH(lane_count)(); }

void split_channels(DType dtype, const void* row, int width, int channels, void* planes,
                    int64_t plane_stride_bytes) {
  HWY_DYNAMIC_DISPATCH(split_channels_impl)
  (dtype, row, width, channels, planes, plane_stride_bytes);
}

void blend(const Blend& job) { HWY_DYNAMIC_DISPATCH(blend_impl)(job); }

void gather(const Columns& columns, const Gather& job) {
  HWY_DYNAMIC_DISPATCH(gather_impl)(columns, job);
}

namespace {

template <typename T>
void round_values(const float* values, int64_t count, T* out, float high) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = T(std::lrint(std::min(std::max(values[i], 0.0f), high)));
  }
}

}  // namespace

void round_to(DType dtype, const float* values, int64_t count, void* out) {
  if (dtype == DType::kUInt8) round_values(values, count, static_cast<uint8_t*>(out), 255);
  else round_values(values, count, static_cast<uint16_t*>(out), 65535);
}

}  // namespace headway::kernels
#endif  // HWY_ONCE
