#include "headway/probe/source_facts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace headway {
namespace {

constexpr std::string_view kDecodes[] = {"decode_jpeg(", "decode_image(", "decode_png(",
                                         "decode_and_crop_jpeg(", "image_dataset_from_directory("};
constexpr std::string_view kPositive[] = {
    "crossentropy",  "CrossEntropy", "cross_entropy", "Crossentropy", "BCELoss",
    "BCEWithLogits", "MSELoss",      "mse_loss",      "MeanSquared",  "mean_squared",
    "L1Loss",        "SmoothL1",     "\"mse\"",       "'mse'",        "NLLLoss"};
constexpr std::string_view kRates[] = {"learning_rate=", "lr=", "learning_rate =", "LEARNING_RATE"};
constexpr std::string_view kBatch = "batch_size";

template <size_t N>
bool has_one_of(std::string_view code, const std::string_view (&words)[N]) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
    return code.find(word) != std::string_view::npos;
  });
}

// "batch_size=32", "BATCH_SIZE = 32": the number, where one is written there.
int64_t batch_in(std::string_view code) {
  std::string lower(code);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const size_t at = lower.find(kBatch);
  if (at == std::string::npos) return 0;
  const size_t sign = lower.find_first_not_of(' ', at + kBatch.size());
  if (sign == std::string::npos || lower[sign] != '=' || lower.substr(sign, 2) == "==") return 0;
  const size_t digits = lower.find_first_not_of(' ', sign + 1);
  if (digits == std::string::npos) return 0;
  int64_t value = 0;
  std::from_chars(lower.data() + digits, lower.data() + lower.size(), value);
  return value;
}

}  // namespace

SourceFacts facts_in(const std::vector<std::string>& lines) {
  SourceFacts out;
  int64_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::string_view code = std::string_view(line).substr(begin);
    if (out.decodes == 0 && has_one_of(code, kDecodes)) out.decodes = number;
    if (out.positive_loss == 0 && has_one_of(code, kPositive)) out.positive_loss = number;
    if (out.learning_rate == 0 && has_one_of(code, kRates)) out.learning_rate = number;
    if (const int64_t size = batch_in(code); size > out.batch_size)
      out.batch_size = size, out.batch = number;
  }
  return out;
}

}  // namespace headway
