#include "headway/core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

using Json = nlohmann::json;

[[noreturn]] void over(const char* what, size_t limit, size_t byte) {
  throw JsonError(fmt::format("more than {} {}", limit, what), byte, true);
}

// Ahead of the parser, which has no limits. As far as the text is JSON, brackets outside of quotes
// are its depth and commas count its values.
void check_limits(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) over("bytes of JSON", limits.max_bytes, limits.max_bytes);
  size_t depth = 0, values = 1;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '[' || c == '{') ++depth, ++values;
    if (c == ']' || c == '}') depth -= std::min<size_t>(depth, 1);
    if (c == ',') ++values;
    if (depth > limits.max_depth) over("levels of JSON in one another", limits.max_depth, i);
    if (values > limits.max_values) over("values of JSON", limits.max_values, i);
  }
}

const char* kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
    case Json::value_t::string: return "a text";
    case Json::value_t::boolean: return "true or false";
    default: return "a number";
  }
}

}  // namespace

Json parse_json(std::string_view text, const JsonLimits& limits,
                const Json::parser_callback_t& each) {
  check_limits(text, limits);
  try {
    return Json::parse(text.begin(), text.end(), each);
  } catch (const Json::parse_error& e) {
    const size_t byte = std::max<size_t>(e.byte, 1) - 1;
    throw JsonError(fmt::format("this is not valid JSON: unexpected text at byte {}", byte), byte,
                    false);
  } catch (const Json::exception& e) {  // such as 1e999, which ends the library's message
    constexpr size_t kMostShown = 40;
    const std::string_view why = e.what();
    const std::string_view number = why.substr(std::min(why.find('\''), why.size()));
    throw JsonError(fmt::format("a number that is too large for 64-bit floating point: {}",
                                number.substr(0, kMostShown)),
                    0, true);
  }
}

bool read_line(std::istream& in, std::string& line, size_t max_bytes) {
  line.clear();
  if (!std::istream::sentry(in, true)) return false;
  std::streambuf& from = *in.rdbuf();
  for (;;) {
    const int c = from.sbumpc();
    if (c == '\n') return true;
    if (c == EOF) {
      in.setstate(line.empty() ? std::ios::eofbit | std::ios::failbit : std::ios::eofbit);
      return !line.empty();
    }
    if (line.size() == max_bytes) over("bytes in a line", max_bytes, max_bytes);
    line.push_back(static_cast<char>(c));
  }
}

JsonView JsonView::operator[](const char* key) const {
  if (const auto found = find(key)) return *found;
  throw Error(fmt::format("in the JSON, '{}' is missing", key));
}

JsonView JsonView::at(size_t i) const {
  if (i < size()) return JsonView((*value_)[i], name_);
  throw Error(fmt::format("in the JSON, '{}' is a list of {} values, but must have at least {}",
                          name_, size(), i + 1));
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  const auto found = object().find(key);
  if (found == object().end()) return std::nullopt;
  return JsonView(*found, found.key());
}

const Json& JsonView::object() const { return expect(Json::value_t::object, "an object"); }

size_t JsonView::size() const { return expect(Json::value_t::array, "a list").size(); }

const Json& JsonView::expect(Json::value_t kind, const char* wanted) const {
  if (value_->type() != kind) wrong(wanted);
  return *value_;
}

void JsonView::wrong(const char* wanted) const {
  throw Error(
      fmt::format("in the JSON, '{}' is {}, but must be {}", name_, kind_of(*value_), wanted));
}

double JsonView::number() const {
  if (value_->is_null()) return NAN;
  if (!value_->is_number()) wrong("a number");
  return value_->get<double>();
}

}  // namespace headway
