#include "headway/image/resize.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>
#include <vector>

#include "headway/image/kernels.h"
#include "headway/image/taps.h"

namespace headway {
namespace {

AxisGeometry rows_of(const ResizeGeometry& g) {
  const float span = g.stretch.height > 0 ? g.stretch.height : float(g.source_height);
  return {.in = g.source_height,
          .offset = g.stretch.y,
          .span = span,
          .out = g.height,
          .filter = g.filter,
          .antialias = g.antialias,
          .first = g.window.y,
          .count = g.window.height};
}

AxisGeometry columns_of(const ResizeGeometry& g) {
  const float span = g.stretch.width > 0 ? g.stretch.width : float(g.source_width);
  return {.in = g.source_width,
          .offset = g.stretch.x,
          .span = span,
          .out = g.width,
          .filter = g.filter,
          .antialias = g.antialias,
          .first = g.window.x,
          .count = g.window.width,
          .mirrored = g.flip_lr};
}

}  // namespace

std::string_view name_of(Filter filter) {
  switch (filter) {
    case Filter::kNearest: return "nearest";
    case Filter::kBilinear: return "bilinear";
    case Filter::kBicubic: return "bicubic";
    case Filter::kArea: return "area";
  }
  return "";
}

Rect source_of(const ResizeGeometry& geometry) {
  const Extent rows = extent_of(rows_of(geometry)), columns = extent_of(columns_of(geometry));
  return {columns.origin, rows.origin, columns.size, rows.size};
}

struct Resizer::Impl {
  void plan(const ResizeGeometry& g);
  void plan_blocks();
  void make_room();
  void emit();
  float* row_target(int y);
  void deliver(int y);

  ResizeGeometry geometry;
  bool planned = false;
  Taps rows, columns;
  // gather()'s view of the columns
  std::vector<int32_t> base, relative;
  std::vector<uint8_t> narrow;

  DType dtype = DType::kUInt8;
  int channels = 0;
  Output output;
  bool bypass_cache = false;

  // The last rows.size source rows, planar; row y lies in slot y % rows.size.
  ScratchBytes ring_bytes;
  int64_t plane_bytes = 0;
  ScratchBytes blended_bytes;
  int64_t blended_stride = 0;
  ScratchBytes line_bytes;  // a finished row on its way to an integer type
  std::vector<const void*> window_rows;
  std::vector<float> row_weights;

  int next_source = 0;  // counted from rows.origin
  int next_target = 0;
};

Resizer::Resizer() : impl_(std::make_unique<Impl>()) {}
Resizer::~Resizer() = default;
Resizer::Resizer(Resizer&&) noexcept = default;
Resizer& Resizer::operator=(Resizer&&) noexcept = default;

void Resizer::Impl::plan(const ResizeGeometry& g) {
  if (planned && g == geometry) return;
  geometry = g;
  make_taps(rows_of(g), rows);
  make_taps(columns_of(g), columns);
  plan_blocks();
  planned = true;
}

void Resizer::Impl::plan_blocks() {
  const int n = kernels::lanes(), count = geometry.window.width;
  const int blocks = (count + n - 1) / n;
  base.resize(blocks);
  narrow.resize(blocks);
  relative.resize(size_t(blocks) * n);
  for (int b = 0; b < blocks; ++b) {
    const int first = b * n, end = std::min(first + n, count);
    const auto [low, high] =
        std::minmax(columns.start[first], columns.start[end - 1]);  // starts are monotonic
    base[b] = low;
    narrow[b] = high - low < 2 * n;
    for (int x = first; x < first + n; ++x) relative[x] = x < end ? columns.start[x] - low : 0;
  }
}

void Resizer::Impl::make_room() {
  constexpr int64_t kLine = 64;
  const int64_t padded = columns.extent + 4 * kernels::kVectorSlack;
  plane_bytes = (padded * size_of(dtype) + kLine - 1) / kLine * kLine;
  blended_stride = (padded + 15) / 16 * 16;
  const size_t ring_size = size_t(plane_bytes) * channels * rows.size;
  if (ring_bytes.capacity_bytes() < ring_size) {
    // Cleared once: what lies behind the rows is read (not used) and must be finite.
    std::memset(ring_bytes.reserve(ring_size), 0, ring_size);
  }
  blended_bytes.reserve(size_t(blended_stride) * channels * sizeof(float));
  if (output.dtype != DType::kFloat32) {
    line_bytes.reserve(size_t(geometry.window.width) * channels * sizeof(float));
  }
  window_rows.resize(rows.size);
  row_weights.resize(rows.size);
}

void Resizer::start(const ResizeGeometry& geometry, DType dtype, int channels,
                    const Output& output) {
  assert(channels >= 1 && channels <= 4);
  assert(geometry.window.x >= 0 && geometry.window.width > 0 && geometry.window.height > 0 &&
         geometry.window.x + geometry.window.width <= geometry.width &&
         geometry.window.y + geometry.window.height <= geometry.height);
  Impl& me = *impl_;
  me.plan(geometry);
  me.dtype = dtype;
  me.channels = channels;
  me.output = output;
  me.make_room();
  me.next_source = 0;
  me.next_target = 0;
  const size_t vector_bytes = size_t(kernels::lanes()) * sizeof(float);
  const size_t row_bytes = size_t(geometry.window.width) * sizeof(float);
  me.bypass_cache = output.dtype == DType::kFloat32 && output.layout == Layout::kCHW &&
                    reinterpret_cast<uintptr_t>(output.data) % vector_bytes == 0 &&
                    row_bytes % vector_bytes == 0;
}

void Resizer::push(const void* row) {
  Impl& me = *impl_;
  const int y = me.next_source++;
  if (me.next_target >= me.geometry.window.height) return;
  if (y < me.rows.start[me.next_target]) return;  // between the rows that are looked at
  uint8_t* slot = me.ring_bytes.data() + (y % me.rows.size) * me.plane_bytes * me.channels;
  kernels::split_channels(me.dtype, row, me.columns.extent, me.channels, slot, me.plane_bytes);
  while (me.next_target < me.geometry.window.height &&
         me.rows.start[me.next_target] + me.rows.size - 1 <= y) {
    me.emit();
  }
}

// Where gather() puts row y of the window.
float* Resizer::Impl::row_target(int y) {
  if (output.dtype != DType::kFloat32) return reinterpret_cast<float*>(line_bytes.data());
  const int64_t width = geometry.window.width;
  const int64_t per_row = output.layout == Layout::kCHW ? width : width * channels;
  return static_cast<float*>(output.data) + y * per_row;
}

// Rounds a finished row into the caller's memory.
void Resizer::Impl::deliver(int y) {
  if (output.dtype == DType::kFloat32) return;
  const int64_t width = geometry.window.width, height = geometry.window.height;
  const float* line = reinterpret_cast<const float*>(line_bytes.data());
  uint8_t* data = static_cast<uint8_t*>(output.data);
  const int64_t size = size_of(output.dtype);
  if (output.layout == Layout::kHWC) {
    kernels::round_to(output.dtype, line, width * channels, data + y * width * channels * size);
    return;
  }
  for (int c = 0; c < channels; ++c) {
    kernels::round_to(output.dtype, line + c * width, width,
                      data + (c * height + y) * width * size);
  }
}

void Resizer::Impl::emit() {
  const int target = next_target++;
  for (int k = 0; k < rows.size; ++k) {
    const int y = rows.start[target] + k;
    window_rows[k] = ring_bytes.data() + (y % rows.size) * plane_bytes * channels;
    row_weights[k] = rows.weight(k)[target];
  }
  float* blended = reinterpret_cast<float*>(blended_bytes.data());
  kernels::blend({.dtype = dtype,
                  .rows = window_rows.data(),
                  .weights = row_weights.data(),
                  .taps = rows.size,
                  .plane_stride_bytes = plane_bytes,
                  .channels = channels,
                  .width = columns.extent,
                  .scale = output.scale.data(),
                  .bias = output.bias.data(),
                  .out = blended,
                  .out_stride = blended_stride});
  const int64_t width = geometry.window.width, height = geometry.window.height;
  const int y = geometry.flip_ud ? int(height) - 1 - target : target;
  const bool planar = output.layout == Layout::kCHW;
  const bool direct = output.dtype == DType::kFloat32;
  kernels::gather({.count = int(width),
                   .taps = columns.size,
                   .weights = columns.weights.data(),
                   .weight_stride = columns.stride,
                   .base = base.data(),
                   .relative = relative.data(),
                   .narrow = narrow.data()},
                  {.planes = blended,
                   .plane_stride = blended_stride,
                   .channels = channels,
                   .out = row_target(y),
                   .out_plane_stride = !planar  ? 0
                                       : direct ? width * height
                                                : width,
                   .bypass_cache = bypass_cache});
  deliver(y);
}

void Resizer::resize(const ImageView& source, const ResizeGeometry& geometry,
                     const Output& output) {
  start(geometry, source.dtype, source.channels, output);
  const Rect need = source_of(geometry);
  const ImageView part = crop(source, need);
  for (int y = 0; y < part.height; ++y) push(part.row(y));
}

}  // namespace headway
