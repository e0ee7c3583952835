#pragma once

#include <string>
#include <string_view>

// Inside trace/: what is told to a shell.
namespace headway {

bool is_shell(std::string_view program);

// The commands in one text, word by word: assignments first, then a program and what it is told.
//
//   redact_shell("PGPASSWORD=x CUDA_VISIBLE_DEVICES=0 python train.py")
//     ->  "PGPASSWORD=*** CUDA_VISIBLE_DEVICES=0 python train.py"
std::string redact_shell(std::string_view text);

}  // namespace headway
