#pragma once

#include <string>
#include <string_view>

// Inside trace/: what can be told from a secret's shape alone.
namespace headway {

inline constexpr std::string_view kHidden = "***";

// Words that hold a token of a known kind, or that are long and random.
std::string hide_shaped(std::string_view text);
bool is_shaped(std::string_view word);  // would it go?

// -----BEGIN ... PRIVATE KEY----- and all behind it up to its end, or the text's.
std::string hide_private_keys(std::string text);

// Of what stands behind "://": where "me:password" ends, at its @; 0: there is none. The password
// may hold @ and /.
size_t end_of_login(std::string_view behind_scheme);

}  // namespace headway
