#include "cli/flat_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "headway/core/error.h"

namespace headway::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_bare(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

template <typename T, typename... How>
std::optional<T> whole(std::string_view text, How... how) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, how...);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

// "0xff", "1_000", "-7"; nothing when it is none, or does not fit.
std::optional<int64_t> whole_number(std::string_view text) {
  if (text.starts_with("0x")) return whole<int64_t>(text.substr(2), 16);
  if (text.starts_with("0o")) return whole<int64_t>(text.substr(2), 8);
  if (text.starts_with("0b")) return whole<int64_t>(text.substr(2), 2);
  const size_t first = text.starts_with('-') ? 1 : 0;
  if (text.size() > first + 1 && text[first] == '0') return std::nullopt;  // 010 is not ten
  return whole<int64_t>(text);
}

std::optional<double> number(std::string_view text) {
  const size_t first = text.starts_with('-') ? 1 : 0;
  const std::string_view rest = text.substr(first);
  const bool named = rest == "inf" || rest == "nan";
  const bool octal = rest.size() > 1 && rest[0] == '0' && is_digit(rest[1]);
  if (!named && (rest.empty() || !is_digit(rest[0]) || octal)) return std::nullopt;
  return whole<double>(text, std::chars_format::general);
}

void append_utf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  const auto more = [&](int shift) { put(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xc0 | code >> 6), more(0);
  if (code < 0x10000) return put(0xe0 | code >> 12), more(6), more(0);
  put(0xf0 | code >> 18), more(12), more(6), more(0);
}

// One line, read from left to right.
class Line {
 public:
  Line(std::string_view text, const std::string& name, int64_t number)
      : text_(text), name_(name), number_(number) {}

  std::optional<TomlSetting> parse() {
    skip_blanks();
    if (at_end()) return std::nullopt;
    TomlSetting setting{.key = key(), .value = {}, .line = number_};
    skip_blanks();
    if (at_end() || text_[at_] != '=') fail("there is no = behind the key");
    ++at_;
    skip_blanks();
    setting.value = value();
    skip_blanks();
    if (!at_end()) fail("something follows the value");
    return setting;
  }

 private:
  bool at_end() const { return at_ >= text_.size() || text_[at_] == '#'; }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::string_view take_while(bool (*wanted)(char)) {
    const size_t begin = at_;
    while (at_ < text_.size() && wanted(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(fmt::format("{}:{}: {}", name_, number_, what),
                "one value per key: key = \"text\", a number, true or false");
  }

  std::string key() {
    if (text_[at_] == '"' || text_[at_] == '\'') return quoted();
    if (text_[at_] == '[') fail("a table");
    const std::string_view bare = take_while(is_bare);
    if (bare.empty()) fail("no key");
    return std::string(bare);
  }

  std::string value() {
    if (at_end()) fail("no value");
    const char first = text_[at_];
    if (first == '"' || first == '\'') return quoted();
    if (first == '[' || first == '{') fail("a list or a table");
    std::string bare(take_while([](char c) { return is_bare(c) || c == '.' || c == '+'; }));
    if (bare == "true" || bare == "false") return bare;
    if (bare.starts_with('+') && !bare.starts_with("+-")) bare.erase(0, 1);
    check_underscores(bare);
    std::erase(bare, '_');
    if (const auto n = whole_number(bare)) return fmt::format("{}", *n);
    if (const auto n = number(bare)) return fmt::format("{}", *n);
    fail("neither a text nor a number nor true or false");
  }

  void check_underscores(std::string_view bare) const {
    for (size_t i = 0; i < bare.size(); ++i) {
      if (bare[i] != '_') continue;
      if (i == 0 || i + 1 == bare.size() || bare[i - 1] == '_') fail("an underscore on its own");
    }
  }

  std::string quoted() {
    const char quote = text_[at_++];
    if (text_.substr(at_, 2) == std::string(2, quote)) fail("a text of several lines");
    std::string out;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const char c = text_[at_];
      if ((c >= 0 && c < 0x20 && c != '\t') || c == 0x7f) fail("a control character in a text");
      if (c == '\\' && quote == '"') {
        escape(out);
      } else {
        out += c;
      }
    }
    if (at_ == text_.size()) fail("a text without its closing quote");
    ++at_;
    return out;
  }

  void escape(std::string& out) {
    constexpr std::string_view kLetters = "btnfr\"\\", kMeant = "\b\t\n\f\r\"\\";
    const char c = ++at_ < text_.size() ? text_[at_] : '\0';
    if (const size_t i = kLetters.find(c); i != std::string_view::npos) {
      out += kMeant[i];
      return;
    }
    const size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const std::string_view hex = text_.substr(std::min(at_ + 1, text_.size()), digits);
    const auto code = hex.size() == digits && digits ? whole<uint32_t>(hex, 16) : std::nullopt;
    if (!code || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) || *code == 0) {
      fail("an escape that TOML does not have");
    }
    append_utf8(out, *code);
    at_ += digits;
  }

  std::string_view text_;
  const std::string& name_;
  int64_t number_;
  size_t at_ = 0;
};

}  // namespace

std::vector<TomlSetting> parse_flat_toml(std::string_view text, const std::string& name) {
  std::vector<TomlSetting> settings;
  std::set<std::string> keys;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto setting = Line(line, name, ++number).parse();
    if (!setting) continue;
    if (!keys.insert(setting->key).second) {
      throw Error(fmt::format("{}:{}: {} is set twice", name, number, setting->key),
                  "remove one of the two lines");
    }
    settings.push_back(*std::move(setting));
  }
  return settings;
}

}  // namespace headway::cli
