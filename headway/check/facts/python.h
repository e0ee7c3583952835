#pragma once

#include <string>
#include <vector>

#include "headway/check/facts.h"

namespace headway {

// The Python that a training would be started with: `wanted` (a program), else that of VIRTUAL_ENV,
// of CONDA_PREFIX, else `python3` of the PATH. It is asked for its version and its folders only, in
// isolated mode: no module of the user's is imported. Frameworks and NumPy are not looked at yet.
PythonFacts read_python(const std::string& wanted);

// "Foo.Bar-1.2.dist-info", "Foo.Bar-1.2-py3.11.egg-info" -> "foo-bar", "1.2"; empty name: neither.
struct PackageName {
  std::string name{}, version{};
};
PackageName package_of(const std::string& entry);

// The folder or file of a module in the first of these folders that has it; empty: none has.
std::string find_module(const std::vector<std::string>& folders, const std::string& module);

}  // namespace headway
