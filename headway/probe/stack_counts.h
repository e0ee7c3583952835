#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "headway/probe/python/python_stack.h"
#include "headway/probe/source/source_lines.h"
#include "headway/trace/outside.h"

namespace headway {

// Frames as they are shown and judged: with the text of the user's lines. Of a forked worker only
// its own frames, without those of its parent. The middle of a very deep stack is left out.
std::vector<SeenFrame> seen_frames(const PythonThread& thread, SourceLines& sources);

// Counts equal stacks. Keeps a bounded number: the rarest are forgotten.
class StackCounts {
 public:
  struct Sample {
    Role process;
    bool main_thread;
    Wait wait;
    bool training;
    bool has_device = false;  // the run uses a GPU: without one nothing is copied to it
  };
  // Returns the stack as which it was counted.
  const SeenStack& add(const PythonThread& thread, const Sample& sample, SourceLines& sources,
                       double now_s);

  std::vector<SeenStack> most(size_t limit) const;  // most often seen first

 private:
  struct Entry {
    SeenStack stack{};
    std::map<uint64_t, int64_t> places{};  // instructions of the innermost frame; a bounded number
    int64_t window = 0, now = 0, before = 0;  // looks in this time window and the one before
  };
  void forget_the_rarest();

  std::unordered_map<uint64_t, Entry> entries_;
  int64_t window_ = 0;
};

}  // namespace headway
