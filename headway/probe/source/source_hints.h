#pragma once

#include <algorithm>
#include <vector>

#include "headway/probe/source/python_source.h"
#include "headway/probe/source/source_learning.h"

// Inside probe/: hints in a source, at most one of each kind.
namespace headway {

class Hints {
 public:
  void add(Hint kind, int64_t line) {
    const bool known = std::any_of(all_.begin(), all_.end(),
                                   [&](const SourceHint& each) { return each.kind == kind; });
    if (line > 0 && !known) all_.push_back({kind, line});
  }
  std::vector<SourceHint> all() && { return std::move(all_); }

 private:
  std::vector<SourceHint> all_;
};

// source_optimizer.cpp: hints about optimizers and their steps.
void note_optimizer(const PythonSource& source, Hints& hints);

}  // namespace headway
