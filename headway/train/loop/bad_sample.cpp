#include "headway/train/loop/bad_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headway/core/error.h"

namespace headway {
namespace {

template <typename T>
void check_finite(const Batch& batch, const Field& field, int64_t step) {
  const auto values = field.value.values<T>();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](T v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  const int64_t rows = field.value.rank() > 0 ? field.value.dim(0) : 1;
  const auto index = static_cast<int64_t>(bad - values.begin());
  const int64_t per_row = std::max<int64_t>(1, static_cast<int64_t>(values.size()) / rows);
  throw Error(fmt::format("{}: value {} of '{}' is {}", sample_name(batch, index / per_row, step),
                          index % per_row, field.name.str(), *bad),
              "correct the sample, or remove it with .filter()", "nan-loss");
}

template <typename T>
void check_range(const Batch& batch, const Tensor& labels, int64_t classes, int64_t step) {
  const auto values = labels.values<T>();
  const auto bad = std::find_if(values.begin(), values.end(), [&](T v) {
    return static_cast<int64_t>(v) < 0 || static_cast<int64_t>(v) >= classes;
  });
  if (bad == values.end()) return;
  const int64_t rows = labels.rank() > 0 ? labels.dim(0) : 1;
  const int64_t per_row = std::max<int64_t>(1, static_cast<int64_t>(values.size()) / rows);
  throw Error(
      fmt::format("{}: label {} is outside 0 .. {}",
                  sample_name(batch, (bad - values.begin()) / per_row, step),
                  static_cast<int64_t>(*bad), classes - 1),
      fmt::format("correct the label, or give the model one output per class: it has {}", classes));
}

}  // namespace

std::string sample_name(const Batch& batch, int64_t row, int64_t step) {
  for (const char* name : {"path", "filename", "image/filename"}) {
    const Tensor* path = batch.find(name);
    if (path && path->dtype() == DType::kString && path->rank() == 1 && row < path->dim(0)) {
      return std::string(path->values<std::string_view>()[static_cast<size_t>(row)]);
    }
  }
  return fmt::format("sample {} of the batch of step {}", row, step);
}

void check_finite_values(const Batch& batch, int64_t step) {
  for (const Field& field : batch.fields()) {
    if (field.value.dtype() == DType::kFloat32) check_finite<float>(batch, field, step);
    if (field.value.dtype() == DType::kFloat64) check_finite<double>(batch, field, step);
  }
}

void check_labels(const Batch& batch, const std::string& field, int64_t classes, int64_t step) {
  const Tensor& labels = batch[field];
  switch (labels.dtype()) {
    case DType::kUInt8: return check_range<uint8_t>(batch, labels, classes, step);
    case DType::kInt32: return check_range<int32_t>(batch, labels, classes, step);
    case DType::kInt64: return check_range<int64_t>(batch, labels, classes, step);
    case DType::kFloat32: return check_range<float>(batch, labels, classes, step);
    case DType::kFloat64: return check_range<double>(batch, labels, classes, step);
    default: return;
  }
}

}  // namespace headway
