#pragma once

#include <string>

#include "headway/check/facts.h"

namespace headway {

// What a training script will need, by its text: nothing of it is run. Modules of its own folder
// are read for their imports, too. Relative paths are looked for in the working directory.
ScriptFacts read_script(const std::string& path, const PythonFacts& python);

}  // namespace headway
