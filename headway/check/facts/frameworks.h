#pragma once

#include <string>
#include <vector>

#include "headway/check/facts.h"

namespace headway {

// Frameworks in this Python's folders, with how they were built, as their files say. Nothing is
// imported. Also its NumPy's BLAS, and the backend that Keras would take.
void read_frameworks(PythonFacts& python);

// "cuda: Optional[str] = '12.4'" -> "12.4"; empty: None, or there is no such line.
std::string value_in_source(const std::string& source, const std::string& name);
// Numbers of "sm_75 sm_80 compute_90" in the order they stand: the last one counts as `ptx` where
// it is of a compute_.
void read_kernels(const std::string& text, InstalledFramework& out);

}  // namespace headway
