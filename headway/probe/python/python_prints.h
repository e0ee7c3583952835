#pragma once

#include <cstdint>
#include <string>

#include "headway/probe/python/python_stack.h"

namespace headway {

// What a running Python prints, for a process that somebody else started: its output goes past us,
// but the last of it stands in the buffers of sys.stdout and sys.stderr. Lines that come and go
// between two reads are not seen. Nothing is seen of a Python without buffers (-u).
//
//   PythonPrints prints(stacks);
//   prints.read(false)  // "" at first; later "step 120 loss 0.53\n"
class PythonPrints {
 public:
  explicit PythonPrints(PythonStacks& stacks) : stacks_(stacks) {}

  // Lines that are new since the last call, each with its end. `errors`: of sys.stderr.
  std::string read(bool errors);

 private:
  struct Stream {
    uint64_t wrapper = 0;     // the TextIOWrapper; 0: none that is known
    uint64_t buffered = 0;    // its BufferedWriter; 0: it has none
    std::string last{};       // what stood in that one's buffer
    uint64_t held = 0;        // the list of what the wrapper has not handed on ...
    int64_t taken = 0;        // ... and how much of it was read
    bool holds_back = false;  // the program does not flush: lines are read from that list
  };
  void find_streams();
  uint64_t find_sys() const;
  std::string new_in_buffer(Stream& stream) const;
  std::string newly_held(Stream& stream, uint64_t list);
  std::string text_of(uint64_t object);

  PythonStacks& stacks_;
  Stream streams_[2];
  int reads_ = 0;
};

// The lines of a buffer that is written over from its beginning, again and again: those that differ
// from what stood there before.
std::string changed_lines(const std::string& before, const std::string& now);

}  // namespace headway
