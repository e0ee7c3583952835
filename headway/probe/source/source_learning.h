#pragma once

#include <cstdint>
#include <vector>

#include "headway/probe/source/python_source.h"
#include "headway/trace/kinds.h"

namespace headway {

// Something in a source that may explain why little or nothing is learnt. Each may be intended: use
// it only to explain what the losses show. At most one of each kind.
struct SourceHint {
  Hint kind{};
  int64_t line = 0;
};
std::vector<SourceHint> learning_hints_in(const PythonSource& source);

}  // namespace headway
