#pragma once

#include <string>
#include <vector>

namespace headway {

// What a program printed and how it ended.
struct Answer {
  std::string trouble{};  // why there is no answer; empty: it ended by itself
  int status = 0;
  std::string out{}, err{};  // 4 MiB at most of each

  bool good() const { return trouble.empty() && status == 0; }
};

// Runs a program (a path, or a name on the PATH) without input. After `seconds` it and what it
// started in its process group are killed. `settings`: "NAME=value", added to the environment.
Answer ask_program(const std::vector<std::string>& command, double seconds,
                   const std::vector<std::string>& settings = {});

}  // namespace headway
