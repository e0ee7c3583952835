#pragma once

#include <string>
#include <string_view>

// Inside trace/: sentences, word by word.
namespace headway {

// Which words stay, beside numbers and paths.
enum class Care {
  kSpoken,  // those that can be spoken
  kTold,    // so, too, but where a value may be told ("the default is x") only those on the list
  kListed,  // those on the list, and names made of them
  kSecret,  // those on the list that stand alone
};

// What does not stay goes word by word. A line that speaks of secrets is read with most care.
//
//   redact_sentence("login failed with password swordfish", Care::kSpoken)
//     ->  "login failed with password ***"
std::string redact_sentence(std::string_view line, Care care);

// Is this word of a sentence the name of a secret? "token" is, but not in "the padding token".
bool speaks_of_a_secret(std::string_view before, std::string_view word, std::string_view after);

// "password", "token": the word itself, in small letters.
bool is_secret_word(std::string_view word);

// "api_key", "credentials": nothing but names of secrets and words of the list.
bool is_made_of_names(std::string_view core);

// Behind the name of a secret: "off", or where it lies, "/keys/account.json".
bool may_stay_behind_secret(std::string_view name, std::string_view value);

// Is this an option, a setting or a parameter of which training programs have many, so that no
// secret stands behind it: "data_dir", "exclude-authors"? Its last word says what it is.
bool is_known_name(std::string_view name);

// "user", "account_name": what stands behind it may go on with a colon and a password.
bool names_a_login(std::string_view name);

// Behind such a name stands the number of something, "3kq9x1zt": "runs", "WANDB_RUN_ID".
bool numbers_things(std::string_view name);
bool is_number_of_thing(std::string_view text);

// "value", "my_text", "user": behind such a name anything may stand.
bool says_nothing(std::string_view name);

// Behind such a name somebody wrote a sentence: "prompt", "run-notes".
bool names_free_text(std::string_view name);

// Behind such a name a hash stands, not a secret: "git_commit", "sha256".
bool names_a_hash(std::string_view name);

}  // namespace headway
