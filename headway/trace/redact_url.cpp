#include <algorithm>
#include <array>

#include "headway/trace/characters.h"
#include "headway/trace/harmless.h"
#include "headway/trace/messages.h"
#include "headway/trace/redact.h"
#include "headway/trace/secret_shapes.h"

namespace headway {
namespace {

// Each piece of `text` between `signs`, as `f` makes it.
template <typename F>
std::string each_between(std::string_view text, std::string_view signs, F f) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t end = std::min(text.find_first_of(signs, at), text.size());
    out += f(text.substr(at, end - at));
    if (end == text.size()) return out;
    out += text[end];
    at = end + 1;
  }
}

std::string shown_if(bool harmless, std::string_view text) {
  return std::string(harmless || text.empty() ? text : kHidden);
}

bool is_harmless_part(std::string_view part) {
  const std::string named = without_hashes(part);
  if (const size_t equals = named.find('='); equals != named.npos)  // "date=2024-05-01"
    return is_spoken_name(named.substr(0, equals)) && !names_a_secret(named) &&
           (is_short_number(named.substr(equals + 1)) || is_plain_name(named.substr(equals + 1)));
  return !is_shaped(named) && (is_spoken_name(named) || is_plain_path(part));
}

// "transformers.git@v4.28.1", "@author": a version or a name, not a login, which would be before a
// host.
bool is_reference(std::string_view part) {
  const size_t sign = part.find('@');
  if (sign == part.npos || part.find_first_of(":@", sign + 1) != part.npos) return false;
  const std::string_view before = part.substr(0, sign), version = part.substr(sign + 1);
  const bool plain = is_plain_name(version) || is_hash(version) ||
                     ((before.ends_with(".git") || before.empty()) && is_spoken_name(version));
  return plain && !is_shaped(part) && (before.empty() || is_harmless_part(before));
}

// "postgresql://trainer@host": these programs ask for the password separately.
bool is_user_alone(std::string_view scheme, std::string_view login) {
  constexpr std::array<std::string_view, 12> kSchemes = {
      "ssh",   "sftp",       "rsync",    "git",   "ftp",     "hdfs",
      "mysql", "postgresql", "postgres", "mssql", "mariadb", "oracle"};
  const std::string_view last = scheme.substr(scheme.starts_with("git+") ? 4 : 0);
  const std::string_view kind = last.substr(0, std::min(last.find('+'), last.size()));
  return std::find(kSchemes.begin(), kSchemes.end(), kind) != kSchemes.end() &&
         login.size() <= 10 && is_spoken(login) &&
         std::all_of(login.begin(), login.end(), is_lower);
}

// After /webhooks/, /token/ and the like comes the secret itself.
std::string redact_parts(std::string_view path, bool secret) {
  std::string_view before;
  return each_between(path, "/", [&](std::string_view part) {
    const bool number = numbers_things(before) && is_number_of_thing(part);
    const bool harmless = !secret && (number || is_harmless_part(part) || is_reference(part));
    secret |= names_a_secret(part) || part == "webhooks";
    before = part;
    return shown_if(harmless, part);
  });
}

// "4%2C17" -> "4,17"
std::string with_commas(std::string_view value) {
  std::string out(value);
  for (const std::string_view comma : {"%2C", "%2c"})
    for (size_t at = 0; (at = out.find(comma, at)) != std::string::npos;) out.replace(at, 3, ",");
  return out;
}

// "curriculum+learning%20rate"
bool is_phrase(std::string_view value) {
  std::string spaced(value);
  for (size_t at = 0; (at = spaced.find("%20", at)) != std::string::npos;)
    spaced.replace(at, 3, " ");
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return !is_shaped(value) && !is_everyday_compound(spaced) && !names_a_secret(spaced) &&
         is_spoken_name(spaced);
}

// "#module-secrets", "#comment-12": words and numbers, not mixed
bool is_anchor(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i)
    if (is_alnum(text[i]) && is_alnum(text[i - 1]) && is_digit(text[i]) != is_digit(text[i - 1]))
      return false;
  return is_spoken_name(text) && text.find_first_of("-.") != text.npos;
}

std::string redact_query(std::string_view query, bool search) {
  return each_between(query, "&;", [&](std::string_view pair) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    if (equals == pair.size()) return shown_if(is_plain_name(name) || is_anchor(name), name);
    const std::string_view value = pair.substr(equals + 1);
    const std::string list = with_commas(value);
    const bool known = is_known_name(name) || (search && (name == "q" || name == "query"));
    const bool harmless =
        !names_a_secret(name) && (is_short_number(list) || is_plain_name(list) ||
                                  (known && (is_phrase(value) || is_plain_path(value))) ||
                                  (names_a_hash(name) && is_hash(value)));
    return shown_if(is_spoken_name(name), name) + "=" + shown_if(harmless, value);
  });
}

}  // namespace

std::string redact_url(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return redact(url);
  std::string out(url.substr(0, scheme + 3));
  std::string_view rest = url.substr(scheme + 3);
  // Azure writes container@account.
  const bool container = url.starts_with("abfs") || url.starts_with("wasb");
  if (const size_t login = end_of_login(rest);
      login > 0 && !is_user_alone(url.substr(0, scheme), rest.substr(0, login)) &&
      !(container && is_spoken_name(rest.substr(0, login)) &&
        rest.substr(0, login).find(':') == std::string_view::npos)) {
    out += std::string(kHidden);
    rest.remove_prefix(login);
  }
  const size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view host = rest.substr(0, path);
  rest.remove_prefix(path);
  out += hide_shaped(host);
  const size_t query = std::min(rest.find_first_of("?#"), rest.size());
  const std::string_view parts = rest.substr(0, query);
  out += redact_parts(parts, host.starts_with("hooks.") || names_a_secret(host));
  if (query == rest.size()) return out;
  const bool search = host.starts_with("search.") || parts.find("search") != parts.npos;
  // After # there is often a path: "#/runs/12"
  return out + rest[query] +
         each_between(rest.substr(query + 1), "?#", [&](std::string_view piece) {
           return piece.starts_with("/") ? redact_parts(piece, false) : redact_query(piece, search);
         });
}

}  // namespace headway
