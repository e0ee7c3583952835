#pragma once

#include <functional>
#include <string>

namespace headway::cli {

inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// "headway: <problem>" and the hint on standard error; gives back `status`.
int complain(int status, const std::string& problem, const std::string& hint);

// Runs `body` with Ctrl-C caught; what it throws becomes a message and an exit status.
int guarded(const std::function<int()>& body);

}  // namespace headway::cli
