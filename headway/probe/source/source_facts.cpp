#include "headway/probe/source/source_facts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "headway/probe/source/source_growth.h"
#include "headway/probe/source/source_prefetch.h"

namespace headway {
namespace {

constexpr std::string_view kDecodes[] = {"decode_jpeg(", "decode_image(", "decode_png(",
                                         "decode_and_crop_jpeg(", "image_dataset_from_directory("};
constexpr std::string_view kCrossentropy[] = {"crossentropy", "CrossEntropy", "cross_entropy",
                                              "Crossentropy", "BCELoss",      "BCEWithLogits",
                                              "NLLLoss"};
constexpr std::string_view kSquares[] = {
    "MSELoss",         "mse_loss",         "MeanSquared",       "mean_squared",
    "L1Loss",          "SmoothL1",         "\"mse\"",           "'mse'",
    "mean(tf.square(", "mean(jnp.square(", "mean(torch.square("};
constexpr std::string_view kHooks[] = {".register_", "_hook("};
constexpr std::string_view kSchedules[] = {"LR(",        "lr_scheduler.",    "Decay(",
                                           "schedules.", "_schedule(",       "_decay(",
                                           "OnPlateau(", "lr_scheduler_type"};
constexpr std::string_view kShuffles[] = {".shuffle(", "shuffle_buffer", "Shuffler(",
                                          "buffer_size="};
// Shuffles a list in place, which is not a shuffle buffer.
constexpr std::string_view kMixesLists[] = {"random.shuffle(", "rng.shuffle("};
constexpr std::string_view kRates[] = {"learning_rate", "lr"};
constexpr std::string_view kBatches[] = {"batch_size", "batch", "per_device_train_batch_size",
                                         "train_batch_size", "minibatch"};

constexpr std::string_view kOptimizers[] = {"adam(",    "adamw(",   "nadam(",    "sgd(",
                                            "rmsprop(", "adagrad(", "adadelta(", "lion("};

template <size_t N>
bool has_all_of(std::string_view code, const std::string_view (&words)[N]) {
  return std::all_of(std::begin(words), std::end(words), [&](std::string_view word) {
    return code.find(word) != std::string_view::npos;
  });
}

template <size_t N>
bool has_one_of(std::string_view code, const std::string_view (&words)[N]) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
    return code.find(word) != std::string_view::npos;
  });
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string small_letters(std::string_view code) {
  std::string lower(code);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// The number assigned to one of these names: "batch_size=32", "BATCH = 32"; 0: none.
template <size_t N>
double given_to(const std::string_view (&names)[N], std::string_view code) {
  const std::string lower = small_letters(code);
  for (const std::string_view name : names)
    for (size_t at = lower.find(name); at != std::string::npos; at = lower.find(name, at + 1)) {
      const size_t end = at + name.size();
      if ((at > 0 && is_word(lower[at - 1])) || (end < lower.size() && is_word(lower[end])))
        continue;
      const size_t sign = lower.find_first_not_of(' ', end);
      if (sign == std::string::npos || lower[sign] != '=' || lower.substr(sign, 2) == "==")
        continue;
      char* stop = nullptr;
      const char* text = lower.c_str() + sign + 1;
      const double value = std::strtod(text, &stop);
      if (stop != text && value > 0 && std::isfinite(value)) return value;
    }
  return 0;
}

// The rate passed to an optimizer without a name: "Adam(1e-3)", "SGD(model.parameters(), 0.1, ...";
// 0: none.
double rate_of_optimizer(std::string_view code) {
  const std::string lower = small_letters(code);
  for (const std::string_view name : kOptimizers) {
    const size_t at = lower.find(name);
    if (at == std::string::npos || (at > 0 && is_word(lower[at - 1]))) continue;
    for (size_t begin = at + name.size(), i = 0; i < 2 && begin < lower.size(); ++i) {
      char* stop = nullptr;
      const double value = std::strtod(lower.c_str() + begin, &stop);
      const bool whole = *stop == ',' || *stop == ')';
      if (whole && value > 0 && std::isfinite(value)) return value;
      begin = std::min(lower.find(',', begin), lower.size() - 1) + 1;
    }
  }
  return 0;
}

}  // namespace

SourceFacts facts_in(const std::vector<std::string>& lines) {
  constexpr size_t kLargest = 5000;  // lines; longer files are not written by hand
  SourceFacts out{.keeps = line_that_keeps(lines)};
  if (lines.size() <= kLargest) {
    const PythonSource source(lines);
    out.hints = learning_hints_in(source);
    out.after_prefetch = map_behind_prefetch(source);
    out.serial_map = serial_map_in(source);
    out.differences = differences_in(source);
    out.validates = validating_functions(source);
  }
  int64_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::string_view code = std::string_view(line).substr(begin);
    if (out.decodes == 0 && has_one_of(code, kDecodes)) out.decodes = number;
    const bool crossentropy = has_one_of(code, kCrossentropy);
    if (out.crossentropy == 0 && crossentropy) out.crossentropy = number;
    if (out.positive_loss == 0 && (crossentropy || has_one_of(code, kSquares)))
      out.positive_loss = number;
    if (out.schedule == 0 && has_one_of(code, kSchedules)) out.schedule = number;
    if (has_all_of(code, kHooks)) out.hooks = number;
    if (has_one_of(code, kShuffles) && !has_one_of(code, kMixesLists)) out.shuffles = number;
    if (out.learning_rate == 0) {
      const double named = given_to(kRates, code);
      out.rate = named > 0 ? named : rate_of_optimizer(code);
      if (out.rate > 0) out.learning_rate = number;
    }
    if (const auto size = static_cast<int64_t>(std::min(1e9, given_to(kBatches, code)));
        size > out.batch_size)
      out.batch_size = size, out.batch = number;
  }
  return out;
}

}  // namespace headway
