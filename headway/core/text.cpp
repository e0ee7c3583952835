#include "headway/core/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace headway {
std::string with_commas(int64_t n) {
  std::string text = std::to_string(n);
  const int first = n < 0 ? 1 : 0;
  for (int i = static_cast<int>(text.size()) - 3; i > first; i -= 3) text.insert(i, ",");
  return text;
}

std::string count_text(int64_t n) {
  if (n < 10'000) return fmt::format("{}", n);
  static constexpr std::array kUnits = {"K", "M", "G", "T", "P"};
  double value = double(n) / 1e3;
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string size_text(double bytes) {
  static constexpr std::array kUnits = {"bytes", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
                   : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string duration_text(double s) {
  if (s < 0.9995e-3) return fmt::format("{:.0f} us", s * 1e6);
  if (s < 0.9995) return fmt::format("{:.3g} ms", s * 1e3);
  if (s < 99.5) return fmt::format("{:.3g} s", s);
  const auto whole = static_cast<int64_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace headway
