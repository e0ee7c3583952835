#include "headway/image/affine.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace headway {
namespace {

using Matrix3 = std::array<double, 9>;

Matrix3 multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 product{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) product[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    }
  }
  return product;
}

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

// A position along one axis as two neighbours and the second one's weight.
struct Between {
  int low = 0;
  int high = 0;
  float weight = 0;
  bool inside = true;
};

// abcd|dcba with period 2n.
int reflect(int64_t i, int n) {
  const int64_t period = 2 * int64_t{n};
  int64_t at = i % period;
  if (at < 0) at += period;
  return int(at < n ? at : period - 1 - at);
}

Between locate(double at, int n, FillMode fill) {
  if (fill == FillMode::kConstant && !(at >= 0 && at <= n - 1)) return {.inside = false};
  if (fill == FillMode::kNearest) at = std::clamp(at, 0.0, double(n - 1));
  // scipy's wrap has period n - 1: the last pixel and the first are one.
  if (fill == FillMode::kWrap && n > 1) at -= (n - 1) * std::floor(at / (n - 1));
  if (n == 1 || !std::isfinite(at)) return {};
  at = std::clamp(at, -1e9, 1e9);
  const double base = std::floor(at);
  const auto low = int64_t(base);
  if (fill == FillMode::kReflect) return {reflect(low, n), reflect(low + 1, n), float(at - base)};
  return {int(low), int(std::min<int64_t>(low + 1, n - 1)), float(at - base)};
}

template <typename T>
T store(float value) {
  if constexpr (std::is_floating_point_v<T>) return value;
  else return T(std::lrint(std::clamp(value, 0.0f, float(T(-1)))));
}

template <typename T>
void affine_typed(const ImageView& source, const AffineMatrix& m, FillMode fill, float fill_value,
                  const ImageSpan& target) {
  const int channels = source.channels;
  const T outside = store<T>(fill_value);
  for (int y = 0; y < target.height; ++y) {
    T* out = target.row_as<T>(y);
    for (int x = 0; x < target.width; ++x, out += channels) {
      const Between row = locate(m[0] * y + m[1] * x + m[2], source.height, fill);
      const Between column = locate(m[3] * y + m[4] * x + m[5], source.width, fill);
      if (!row.inside || !column.inside) {
        std::fill_n(out, channels, outside);
        continue;
      }
      const T* top = source.row_as<T>(row.low);
      const T* bottom = source.row_as<T>(row.high);
      for (int c = 0; c < channels; ++c) {
        const int left = column.low * channels + c, right = column.high * channels + c;
        const float upper =
            float(top[left]) + (float(top[right]) - float(top[left])) * column.weight;
        const float lower =
            float(bottom[left]) + (float(bottom[right]) - float(bottom[left])) * column.weight;
        out[c] = store<T>(upper + (lower - upper) * row.weight);
      }
    }
  }
}

}  // namespace

std::string_view name_of(FillMode fill) {
  switch (fill) {
    case FillMode::kNearest: return "nearest";
    case FillMode::kConstant: return "constant";
    case FillMode::kReflect: return "reflect";
    case FillMode::kWrap: return "wrap";
  }
  return "";
}

AffineMatrix affine_matrix(const AffineSettings& settings, int height, int width) {
  const double turn = radians(settings.rotation_degrees), lean = radians(settings.shear_degrees);
  const Matrix3 rotate{
      std::cos(turn), -std::sin(turn), 0, std::sin(turn), std::cos(turn), 0, 0, 0, 1};
  const Matrix3 shift{1, 0, settings.shift_rows, 0, 1, settings.shift_columns, 0, 0, 1};
  const Matrix3 shear{1, -std::sin(lean), 0, 0, std::cos(lean), 0, 0, 0, 1};
  const Matrix3 zoom{settings.zoom_rows, 0, 0, 0, settings.zoom_columns, 0, 0, 0, 1};
  const double middle_y = height / 2.0 - 0.5, middle_x = width / 2.0 - 0.5;
  const Matrix3 to_middle{1, 0, middle_y, 0, 1, middle_x, 0, 0, 1};
  const Matrix3 from_middle{1, 0, -middle_y, 0, 1, -middle_x, 0, 0, 1};
  const Matrix3 about_origin = multiply(multiply(multiply(rotate, shift), shear), zoom);
  const Matrix3 m = multiply(multiply(to_middle, about_origin), from_middle);
  return {m[0], m[1], m[2], m[3], m[4], m[5]};
}

void affine(const ImageView& source, const AffineMatrix& matrix, FillMode fill, float fill_value,
            const ImageSpan& target) {
  assert(source.dtype == target.dtype && source.channels == target.channels);
  switch (source.dtype) {
    case DType::kUInt8: return affine_typed<uint8_t>(source, matrix, fill, fill_value, target);
    case DType::kUInt16: return affine_typed<uint16_t>(source, matrix, fill, fill_value, target);
    default: return affine_typed<float>(source, matrix, fill, fill_value, target);
  }
}

}  // namespace headway
