#include "headway/check/judge/visible_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace headway {
namespace {

std::string without_blanks(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> entries_of(const std::string& setting) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= setting.size();) {
    const size_t comma = std::min(setting.find(',', at), setting.size());
    out.push_back(without_blanks(setting.substr(at, comma - at)));
    at = comma + 1;
  }
  return out;
}

// The GPU that an entry names; else `why`.
std::optional<size_t> gpu_named(const std::string& entry, const std::vector<InstalledGpu>& gpus,
                                std::string& why) {
  if (entry.starts_with("GPU-")) {
    std::optional<size_t> found;
    for (size_t i = 0; i < gpus.size(); ++i) {
      if (!gpus[i].uuid.starts_with(entry)) continue;
      if (found) why = "several GPUs have a UUID that begins like this";
      found = i;
    }
    if (!found) why = "no GPU has this UUID";
    return why.empty() ? found : std::nullopt;
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (error != std::errc() || end != entry.data() + entry.size()) {
    why = "it is neither a number nor a UUID";
  } else if (number < 0) {
    why = "a negative number ends the list";
  } else if (number >= static_cast<int64_t>(gpus.size())) {
    why = fmt::format("there is no GPU {}: the numbers are 0 to {}", number, gpus.size() - 1);
  } else {
    return static_cast<size_t>(number);
  }
  return std::nullopt;
}

}  // namespace

VisibleGpus visible_gpus(const std::optional<std::string>& setting,
                         const std::vector<InstalledGpu>& gpus) {
  VisibleGpus out;
  if (!setting || gpus.empty()) {
    for (size_t i = 0; i < gpus.size(); ++i) out.shown.push_back(i);
    return out;
  }
  for (const std::string& entry : entries_of(*setting)) {
    if (entry.starts_with("MIG-")) {
      out.divided = true;
      return out;
    }
    std::string why;
    const auto gpu = gpu_named(entry, gpus, why);
    if (!gpu) {
      out.bad_entry = entry, out.why = entry.empty() ? "it is empty" : why;
      return out;
    }
    if (std::find(out.shown.begin(), out.shown.end(), *gpu) != out.shown.end()) {
      out.shown.clear();
      out.bad_entry = entry, out.why = "a GPU that is named twice hides all of them";
      return out;
    }
    out.shown.push_back(*gpu);
  }
  return out;
}

}  // namespace headway
