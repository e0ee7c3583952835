#pragma once

#include <string>
#include <vector>

#include "headway/probe/python/python_attributes.h"
#include "headway/trace/outside.h"

namespace headway {

// Variables of a frame that show how far a run is: counters (step, epoch, i), losses, paths, the
// length of a list that is being filled. Only names from a short list are read, and never possible
// secrets. Values may change while they are read: use them for display and counting, but do not
// decide by them alone.
class PythonValues {
 public:
  explicit PythonValues(PythonStacks& stacks) : stacks_(stacks), attributes_(stacks) {}

  // Variables of one frame; for a module's frame its globals.
  std::vector<SeenValue> read(const PythonFrame& frame, bool users);

 private:
  std::string value_text(const std::string& name, uint64_t object);

  PythonStacks& stacks_;
  PythonAttributes attributes_;
};

// Which kind of value a variable with this name may show: 'n' a count, 'f' a number, 's' a path,
// 'l' the length of a list; 0: none.
char kind_of_variable(const std::string& name);

}  // namespace headway
