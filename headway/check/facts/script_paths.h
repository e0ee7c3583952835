#pragma once

#include <string>
#include <vector>

#include "headway/check/facts.h"
#include "headway/probe/source/python_source.h"

// Inside check/facts: files and folders that a Python source reads.
namespace headway {

// The content of "'data/a.csv'" and of "Path('data')"; empty: no literal text.
std::string literal_of(std::string_view text);

// The text that this expression is, where it is a literal, a name that is assigned one, or such
// texts joined by os.path.join or `/`; empty: not known.
std::string text_of_expression(const PythonSource& source, std::string_view expression);

// Paths that the source reads and that do not exist, each once. Not those that it makes, downloads
// or asks about.
std::vector<ScriptNeed> missing_paths_in(const std::string& file, const PythonSource& source);

}  // namespace headway
