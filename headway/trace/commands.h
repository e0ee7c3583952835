#pragma once

#include <string>
#include <string_view>

// Inside trace/: commands for a shell.
namespace headway {

bool is_shell(std::string_view program);

// The commands in a text, word by word: first assignments, then a program and its arguments.
//
//   redact_shell("PGPASSWORD=x CUDA_VISIBLE_DEVICES=0 python train.py")
//     ->  "PGPASSWORD=*** CUDA_VISIBLE_DEVICES=0 python train.py"
std::string redact_shell(std::string_view text);

}  // namespace headway
