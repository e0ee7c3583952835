#pragma once

#include <cstdint>
#include <string>

#include "headway/probe/python/python_stack.h"

namespace headway {

// What a running Python prints, for a process that we did not start: its output does not pass
// through us, but the latest part is in the buffers of sys.stdout and sys.stderr. Lines that come
// and go between two reads are missed. A Python without buffers (-u) shows nothing.
//
//   PythonPrints prints(stacks);
//   prints.read(false)  // "" at first; later "step 120 loss 0.53\n"
class PythonPrints {
 public:
  explicit PythonPrints(PythonStacks& stacks) : stacks_(stacks) {}

  // New lines since the last call, each with its line end. `errors`: from sys.stderr.
  std::string read(bool errors);

 private:
  struct Stream {
    uint64_t wrapper = 0;     // the TextIOWrapper; 0: not known
    uint64_t buffered = 0;    // its BufferedWriter; 0: none
    std::string last{};       // what that buffer contained
    uint64_t held = 0;        // the list of texts that the wrapper has not passed on ...
    int64_t taken = 0;        // ... and how much of it was already read
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

// The new lines of a buffer that is filled, passed on and filled again from its beginning: those
// from the first one that differs from its earlier content.
std::string changed_lines(const std::string& before, const std::string& now);

}  // namespace headway
