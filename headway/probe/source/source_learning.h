#pragma once

#include <cstdint>
#include <vector>

#include "headway/probe/source/python_source.h"
#include "headway/trace/kinds.h"

namespace headway {

// What a source says that may explain why little or nothing is learnt. Each may be meant: it is for
// explaining what the losses show. One of a kind at most.
struct SourceHint {
  Hint kind{};
  int64_t line = 0;
};
std::vector<SourceHint> learning_hints_in(const PythonSource& source);

}  // namespace headway
