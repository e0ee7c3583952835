#pragma once

#include <string_view>

namespace headway {

// Is this one of the words that training programs, their options and their errors are made of:
// "batch", "epochs", "resnet", "failed"? In any case of letters. What is not on the list may be a
// name, or a password.
bool is_plain_word(std::string_view word);

// "exec", "install": what programs are told to do.
bool is_command_word(std::string_view word);

// Or one that any sentence may have: "please", "provide"? As a value of its own it may be a
// password.
bool is_word_of_speech(std::string_view word);

// One of those that passwords are made of, too: "cat", "blue". Harmless when it stands alone.
bool is_everyday_word(std::string_view word);

// Is this one of those that often have a number behind them: "resnet", "epoch", "float"?
bool is_numbered_word(std::string_view word);

// Is this how a file of a known kind ends: "jpg", "tfrecord", "yaml"? In any case of letters.
bool is_file_ending(std::string_view ending);

}  // namespace headway
