#pragma once

#include <string>
#include <string_view>

// Inside trace/: sentences, word by word.
namespace headway {

// Which words are kept, beside numbers and paths.
enum class Care {
  kSpoken,  // pronounceable words
  kTold,    // the same, but where a value may follow ("the default is x") only words on the list
  kListed,  // words on the list, and names made of them
  kSecret,  // words on the list that stand alone
};

// Redacts word by word. In a line that mentions a secret, `care` is raised to the strictest.
//
//   redact_sentence("login failed with password swordfish", Care::kSpoken)
//     ->  "login failed with password ***"
std::string redact_sentence(std::string_view line, Care care);

// Is this word the name of a secret in its sentence? "token" is, but not in "the padding token".
bool speaks_of_a_secret(std::string_view before, std::string_view word, std::string_view after);

// "password", "token": the word itself, in small letters.
bool is_secret_word(std::string_view word);

// "api_key", "credentials": only names of secrets and words on the list.
bool is_made_of_names(std::string_view core);

// Values after a secret's name that may be kept: "off", or its location, "/keys/account.json".
bool may_stay_behind_secret(std::string_view name, std::string_view value);

// Is this a common option, setting or parameter of training programs, which is not followed by a
// secret: "data_dir", "exclude-authors"? Decided by its last word.
bool is_known_name(std::string_view name);

// "user", "account_name": the value may continue with a colon and a password.
bool names_a_login(std::string_view name);

// The value is the id of something, "3kq9x1zt": "runs", "WANDB_RUN_ID".
bool numbers_things(std::string_view name);
bool is_number_of_thing(std::string_view text);

// "value", "my_text", "user": the value may be anything.
bool says_nothing(std::string_view name);

// The value is a sentence that somebody wrote: "prompt", "run-notes".
bool names_free_text(std::string_view name);

// The value is a hash, not a secret: "git_commit", "sha256".
bool names_a_hash(std::string_view name);

}  // namespace headway
