#pragma once

#include <string_view>

namespace headway {

// Is this a word that training programs, their options and their errors commonly use: "batch",
// "epochs", "resnet", "failed"? Upper and lower case are equal. A word that is not on the list may
// be a name or a password.
bool is_plain_word(std::string_view word);

// "exec", "install": words for what a program should do.
bool is_command_word(std::string_view word);

// Or a word that any sentence may contain: "please", "provide"? As a value on its own it could be a
// password.
bool is_word_of_speech(std::string_view word);

// A word that passwords are made of, too: "cat", "blue". Harmless when it stands alone.
bool is_everyday_word(std::string_view word);

// A word that often has a number after it: "resnet", "epoch", "float"?
bool is_numbered_word(std::string_view word);

// The extension of a known file type: "jpg", "tfrecord", "yaml"? Upper and lower case are equal.
bool is_file_ending(std::string_view ending);

}  // namespace headway
