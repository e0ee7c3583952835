#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "headway/probe/python/python_offsets.h"

namespace headway {

// A Python interpreter found in a running process.
struct PythonRuntime {
  PythonVersion version{};
  uint64_t address = 0;  // of _PyRuntime
  std::string file{};    // the program or library that contains it
};

// Looks for the symbol _PyRuntime or the section .PyRuntime in the program and in libpython.
// Nothing: no Python, or no permission; `problem` then says which. `proc` is "/proc" except in
// tests. Works across PID and mount namespaces: files are opened through /proc/PID/root.
std::optional<PythonRuntime> find_python(pid_t pid, std::string* problem = nullptr);

// The version that a path names: "/usr/lib/libpython3.10.so.1.0" -> 3.10.
std::optional<PythonVersion> version_in_path(const std::string& path);

}  // namespace headway
