#pragma once

#include <string>
#include <vector>

#include "headway/check/facts.h"
#include "headway/probe/source/python_source.h"

// Inside check/facts: the imports of a Python source.
namespace headway {

struct SourceImport {
  std::string module{};  // the first part of its name: "torch" of "import torch.nn as nn"
  int64_t line = 0;
  bool maybe = false;  // in a try, behind a test or in a function
};
// Without relative ones and those for type checkers alone.
std::vector<SourceImport> imports_of(const PythonSource& source);

// Imports of this source, and of modules beside it, that nothing here can satisfy.
std::vector<ScriptNeed> missing_modules(const std::string& path, const PythonSource& source,
                                        const PythonFacts& python);

// Lines of a Python source, 5,000 at most; empty: it cannot be read.
std::vector<std::string> source_lines_of(const std::string& path);

}  // namespace headway
