#pragma once

#include <string>
#include <vector>

namespace headway {

// Nothing that may be a secret is printed or stored: hidden by the name it goes by (token,
// password, key ...) or by its shape (long and random, known prefixes).
bool names_a_secret(const std::string& name);
bool looks_like_a_secret(const std::string& value);

// A command line as one line, with "***" for the value of `--api-key VALUE`, `--token=VALUE`,
// `NAME_SECRET=VALUE` and for words that look random.
std::string redacted_command(const std::vector<std::string>& words);
// A line of text, word by word; URLs lose user:password.
std::string redacted(const std::string& line);

}  // namespace headway
