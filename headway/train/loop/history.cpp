#include "headway/train/loop/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/core/error.h"
#include "headway/core/text.h"

namespace headway {

const double* Logs::find(const std::string& name) const {
  for (const auto& [key, value] : values_)
    if (key == name) return &value;
  return nullptr;
}

double Logs::operator[](const std::string& name) const {
  if (const double* value = find(name)) return *value;
  std::string names;
  for (const auto& [key, value] : values_) names += (names.empty() ? "" : ", ") + key;
  throw Error(fmt::format("no value named '{}' was measured", name),
              !names.empty() ? "use one of these names: " + names : "nothing was measured");
}

void Logs::set(const std::string& name, double value) {
  for (auto& [key, old] : values_)
    if (key == name) {
      old = value;
      return;
    }
  values_.emplace_back(name, value);
}

std::string Logs::str() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : "  ", name, value);
  }
  return text;
}

std::string History::time_table() const {
  std::string text = fmt::format("where the time went ({}, {} samples, {:.0f} per second)\n",
                                 duration_text(seconds), samples, samples_per_s());
  const auto row = [&](std::string_view name, double s) {
    const double share = seconds > 0 ? s / seconds : 0;
    text += fmt::format("  {:<18}{:>12}{:>6.1f}%  {}\n", name, duration_text(s), 100 * share,
                        std::string(static_cast<size_t>(30 * std::clamp(share, 0.0, 1.0)), '='));
  };
  for (size_t i = 0; i < kStepPhases; ++i) {
    if (times.seconds[i] > 0) row(kStepPhaseNames[i], times.seconds[i]);
  }
  row("everything else", std::max(0.0, seconds - times.total()));
  return text;
}

}  // namespace headway
