#include "headway/probe/output/line_counters.h"

#include <cctype>
#include <charconv>

namespace headway {
namespace {

constexpr size_t kMostShapes = 64, kMostNumbers = 8, kLongestLine = 300;
constexpr int64_t kRises = 3;
constexpr double kNearlyAlways = 0.75;  // it starts again with every epoch

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

struct Read {
  std::string shape{};
  std::vector<int64_t> numbers{};  // whole numbers only
};

Read read(std::string_view line) {
  Read out;
  std::string word;  // the last one before a number, in lower case
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (!is_digit(c)) {
      if (is_letter(c) && (i == 0 || !is_letter(line[i - 1]))) word.clear();
      if (is_letter(c)) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      out.shape += c == '-' || c == '+' || c == ' ' ? ' ' : c;
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < line.size() && (is_digit(line[i]) || line[i] == '.' || line[i] == 'e')) ++i;
    const std::string_view text = line.substr(begin, i - begin);
    const bool of_a_word = begin > 0 && is_letter(line[begin - 1]);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    out.shape += '#';
    if (whole && !of_a_word && word != "epoch" && out.numbers.size() < kMostNumbers)
      out.numbers.push_back(value);
  }
  return out;
}

}  // namespace

std::optional<int64_t> LineCounters::count_in(std::string_view line) {
  Read now = read(line.substr(0, kLongestLine));
  if (now.numbers.empty()) return std::nullopt;
  if (shapes_.size() >= kMostShapes) shapes_.clear();
  Shape& shape = shapes_[now.shape];
  if (shape.last.size() != now.numbers.size()) {
    shape = {.last = std::move(now.numbers)};
    shape.rises.resize(shape.last.size());
    return std::nullopt;
  }
  ++shape.repeats;
  std::optional<int64_t> out;
  for (size_t i = 0; i < now.numbers.size(); ++i) {
    shape.rises[i] += now.numbers[i] > shape.last[i];
    if (!out && shape.rises[i] >= kRises &&
        double(shape.rises[i]) >= kNearlyAlways * double(shape.repeats))
      out = now.numbers[i];
  }
  shape.last = std::move(now.numbers);
  return out;
}

}  // namespace headway
