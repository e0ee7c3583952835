#include "headway/probe/output/loss_words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "headway/trace/trace.h"

namespace headway {
namespace {

constexpr size_t kMostKept = 400;
constexpr size_t kMostRead = 600;  // of a line

// How well a word names a loss; 0: not at all.
enum Rank { kNone, kByTheWay, kOtherName, kLoss };

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Is one of the parts of "train/val_loss" such a word?
bool has_part(std::string_view word, std::initializer_list<std::string_view> parts) {
  while (!word.empty()) {
    const size_t end = std::min(word.find_first_of("_/"), word.size());
    if (is_one_of(word.substr(0, end), parts)) return true;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return false;
}

bool of_validation(std::string_view word) {
  return has_part(word, {"val", "valid", "validation", "test", "testing", "eval", "evaluation",
                         "dev", "holdout"});
}

Rank rank_of(std::string_view word) {
  if (of_validation(word) || has_part(word, {"scale", "scaling", "weight", "fn", "function"}))
    return kNone;
  if (has_part(word, {"loss", "trainloss"})) return kLoss;
  if (has_part(word, {"cost", "mse", "nll", "objective", "rmse", "mae", "perplexity", "ppl", "bce",
                      "xent", "elbo", "entropy", "crossentropy"}))
    return kOtherName;
  return word == "train" || word == "training" ? kByTheWay : kNone;
}

bool is_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '/'; }

// "0.53", "-1e-3", "nan", "inf", "tensor(0.53, ...)"; `end`: where it ends.
std::optional<double> number_at(const std::string& text, size_t at, size_t& end) {
  for (const char* around : {"tensor(", "array(", "np.float32(", "np.float64("})
    if (text.compare(at, std::char_traits<char>::length(around), around) == 0)
      at += std::char_traits<char>::length(around);
  size_t first = at;
  if (first < text.size() && (text[first] == '-' || text[first] == '+')) ++first;
  for (const char* word : {"nan", "infinity", "inf"}) {
    const size_t size = std::char_traits<char>::length(word);
    if (text.compare(first, size, word) != 0) continue;
    if (first + size < text.size() && is_word(text[first + size])) return std::nullopt;
    end = first + size;
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (first >= text.size()) return std::nullopt;
  const bool digit = std::isdigit(static_cast<unsigned char>(text[first])) ||
                     (text[first] == '.' && first + 1 < text.size() &&
                      std::isdigit(static_cast<unsigned char>(text[first + 1])));
  if (!digit) return std::nullopt;
  char* stop = nullptr;
  const double value = std::strtod(text.c_str() + at, &stop);
  end = static_cast<size_t>(stop - text.c_str());
  if (end < text.size() && (is_word(text[end]) || text[end] == '%'))
    return std::nullopt;  // "3 of", "5%"
  return value;
}

// The value after the word: "loss: 0.5", "loss 'x' is 0.5", "loss at step 100: 0.5".
std::optional<double> value_after(const std::string& text, size_t at,
                                  std::string_view* said = nullptr) {
  const auto skip = [&] {
    while (at < text.size() &&
           std::string_view(" \t:='\"|[(>~").find(text[at]) != std::string_view::npos)
      ++at;
  };
  skip();
  for (const char* word : {"is ", "was ", "value ", "train) ", "train: ", "(train) "})
    if (text.compare(at, std::char_traits<char>::length(word), word) == 0)
      at += std::char_traits<char>::length(word), skip();
  for (const char* word : {"at ", "after ", "for ", "in ", "of "}) {
    if (text.compare(at, std::char_traits<char>::length(word), word) != 0) continue;
    const size_t sign = text.find_first_of(":=", at);
    if (sign == std::string::npos || sign > at + 40) return std::nullopt;
    at = sign;
    skip();
    break;
  }
  size_t end = at;
  const auto value = number_at(text, at, end);
  if (said) *said = std::string_view(text).substr(at, end - at);
  return value;
}

// "0.000" may have been 0.0004; "0.0" and "0.00e+00" are how Python writes exactly zero.
bool is_rounded_away(double value, std::string_view said) {
  return value == 0 && said != "0.0" && said != "0" && said.find('e') == std::string_view::npos;
}

// The part of the line that is read, in lower case.
std::string small_letters(std::string_view line) {
  std::string text(line.substr(0, kMostRead));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Calls `take` with each word that names a training loss, its rank, and where it ends.
template <typename F>
void each_loss(const std::string& text, F&& take) {
  bool of_others = false;  // the word before, separated only by a blank, says so
  for (size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = std::string_view(text).substr(i, end - i);
    const Rank rank = of_others && text[i - 1] == ' ' ? kNone : rank_of(word);
    if (rank != kNone) take(rank, word, end);
    of_others = of_validation(word) && end + 1 < text.size() && is_word(text[end + 1]);
    i = end;
  }
}

}  // namespace

std::optional<double> rate_in(std::string_view line) {
  const std::string text = small_letters(line);
  for (const std::string_view name : {"learning_rate", "learning rate", "lr"}) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const size_t end = at + name.size();
      if ((at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1]))) ||
          (end < text.size() && is_word(text[end])))
        continue;
      std::string_view said;
      const auto value = value_after(text, end, &said);
      if (value && std::isfinite(*value) && !is_rounded_away(*value, said)) return value;
    }
  }
  return std::nullopt;
}

std::optional<double> loss_in(std::string_view line) {
  const std::string text = small_letters(line);
  if (text.find("train_runtime") != std::string::npos) return std::nullopt;  // a mean, at the end
  std::optional<double> best;
  Rank best_rank = kNone;
  each_loss(text, [&](Rank rank, std::string_view word, size_t end) {
    if (rank <= best_rank) return;
    auto value = value_after(text, end);
    if (!value) return;
    if (has_part(word, {"elbo"})) *value = std::abs(*value);  // the loss is its negative
    best = value, best_rank = rank;
  });
  // "train 0.53" may be anything if the line names no epoch and no step.
  if (best_rank == kByTheWay && text.find("epoch") == std::string::npos &&
      text.find("step") == std::string::npos && text.find("iter") == std::string::npos)
    return std::nullopt;
  return best;
}

bool tells_nan(std::string_view line) {
  const std::string text = small_letters(line);
  for (size_t at = text.find("nan"); at != std::string::npos; at = text.find("nan", at + 1)) {
    const size_t end = at + 3;
    const size_t sign = at > 0 && text[at - 1] == '-' ? at - 1 : at;
    const bool begins =
        sign > 0 && std::string_view(" =:(").find(text[sign - 1]) != std::string_view::npos;
    if (begins && (end == text.size() || !std::isalnum(static_cast<unsigned char>(text[end]))))
      return true;
  }
  return false;
}

bool tells_several_losses(std::string_view line) {
  const std::string text = small_letters(line);
  int told = 0;
  bool whole = false;
  each_loss(text, [&](Rank rank, std::string_view word, size_t end) {
    if (rank != kLoss || !value_after(text, end)) return;
    ++told;
    whole |= word == "loss" || has_part(word, {"total", "train", "trainloss", "training"});
  });
  return told > 1 && !whole;
}

bool tells_reward(std::string_view line) {
  const std::string text = small_letters(line);
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (has_part(std::string_view(text).substr(i, end - i),
                 {"reward", "rewards", "return", "returns", "episode", "episodes"}) &&
        value_after(text, end))
      return true;
    i = end + 1;
  }
  return false;
}

bool names_a_loss(std::string_view variable) {
  return is_one_of(
      variable, {"loss", "train_loss", "loss_value", "loss_val", "lossv", "batch_loss", "step_loss",
                 "loss_float", "cost", "mse", "nll", "objective", "rmse", "perplexity"});
}

void LossSeries::add_of_bar(double at_s, int64_t step, double value) {
  const bool same = std::exchange(bar_step_, step) == step;
  const bool was_finite = std::exchange(bar_was_finite_, std::isfinite(value));
  if (!same || was_finite != bar_was_finite_) return add(at_s, step, value);
  if (was_finite) last = kept_.back().value = value;
}

void LossSeries::add(double at_s, int64_t step, double value) {
  if (!std::isfinite(value)) {
    ++bad;
    return;
  }
  if (finite == 0) first = value;
  last = value;
  ++finite;
  kept_.push_back({at_s, step, value});
  thin_out(kept_, kMostKept);
}

}  // namespace headway
