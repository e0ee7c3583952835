#pragma once

#include <string>

#include "headway/check/facts.h"

// Inside check/judge.
namespace headway {

// The command that installs into this Python. The system's own lets pip install nothing.
inline std::string pip_of(const PythonFacts& python) {
  return python.program.starts_with("/usr/bin/")
             ? "(in a virtual environment: python3 -m venv ENV) ENV/bin/python -m pip"
             : python.program + " -m pip";
}

}  // namespace headway
