#pragma once

#include <string>
#include <string_view>

// Inside trace/: secrets that can be recognised by their shape alone.
namespace headway {

inline constexpr std::string_view kHidden = "***";

// Hides words that contain a token of a known kind, or that are long and random.
std::string hide_shaped(std::string_view text);
bool is_shaped(std::string_view word);  // would it be hidden?

// Hides -----BEGIN ... PRIVATE KEY----- and all after it up to its end, or the end of the text.
std::string hide_private_keys(std::string text);

// In the text after "://": the end of "me:password", at its @; 0: there is none. The password may
// contain @ and /.
size_t end_of_login(std::string_view behind_scheme);

}  // namespace headway
