#pragma once

#include <string>
#include <vector>

#include "headway/probe/python/python_attributes.h"
#include "headway/trace/outside.h"

namespace headway {

// Variables of a frame that tell where a run stands: counters (step, epoch, i), losses, paths, the
// length of a list that is being filled. By name, from a short list; what may be a secret is never
// read. Values are a moment's and may be torn: for showing and for counting, not for deciding
// alone.
class PythonValues {
 public:
  explicit PythonValues(PythonStacks& stacks) : stacks_(stacks), attributes_(stacks) {}

  // Of one frame; a module's variables are its globals.
  std::vector<SeenValue> read(const PythonFrame& frame, bool users);

 private:
  std::string value_text(const std::string& name, uint64_t object);

  PythonStacks& stacks_;
  PythonAttributes attributes_;
};

// What kind of value a variable of this name may show: 'n' a count, 'f' a number, 's' a path,
// 'l' the length of a list; 0: none.
char kind_of_variable(const std::string& name);

}  // namespace headway
