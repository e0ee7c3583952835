#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "headway/probe/frame_pages.h"
#include "headway/probe/memory_reader.h"
#include "headway/probe/python_runtime.h"

namespace headway {

// A function as Python compiled it.
struct PythonCode {
  std::string file{}, function{};
  int first_line = 0;
  std::string lines{};                // the line table
  std::vector<std::string> locals{};  // names, in the frame's order
  bool users = false;                 // no library's
  uint64_t id = 0;                    // equal for the same function in another process
};

struct PythonFrame {
  std::shared_ptr<const PythonCode> code;
  int line = 0;
  uint64_t address = 0;      // of the frame in the target
  uint64_t instruction = 0;  // where in the code; tells two moments apart
};

struct PythonThread {
  pid_t tid = 0;  // as the target's PID namespace numbers it; 0: not known
  bool holds_gil = false;
  bool torn = false;  // changed whenever it was read; `frames` are the outer ones that stood still
  std::vector<PythonFrame> frames{};  // innermost first
  uint64_t fingerprint = 0;           // of all frames with their instructions
};

// Reads the Python stacks of every thread of a running process, without stopping it. A stack counts
// when two copies in a row agree in all frames, but that the innermost may move on; when it ends
// where that thread's stack ended before; and when it leads through code only. Else it is read
// again. Not for several threads.
class PythonStacks {
 public:
  // Error when the version's layout is not known.
  PythonStacks(pid_t pid, const PythonRuntime& runtime);

  // Empty when the target is gone or may not be read. A stack that never stands still is tried
  // again for so long: no thread keeps Python's lock for more than 5 ms while others want it.
  std::vector<PythonThread> read(double patience_s = 0);

  const MemoryReader& memory() const { return memory_; }
  const PythonOffsets& offsets() const { return offsets_; }
  std::optional<std::string> text(uint64_t object, size_t limit = 512) const;  // of a str
  std::string type_name(uint64_t type);  // "int"; empty when it cannot be read

 private:
  struct RawThread {
    uint64_t address = 0, next = 0;
    uint64_t id = 0, native = 0;
  };
  struct RawFrame {
    uint64_t address = 0, back = 0, code = 0, instruction = 0;
    int owner = 0;

    bool operator==(const RawFrame&) const = default;
  };

  using RawStack = std::vector<RawFrame>;

  std::vector<RawThread> list_threads(uint64_t& holder);
  void read_stack(const RawThread& thread, double patience_s, PythonThread& out);
  std::optional<RawStack> walk(uint64_t thread);
  bool is_base(uint64_t thread, const RawStack& stack, bool stands_still);
  bool is_mark(const RawFrame& frame) const;
  bool resolve(const RawStack& raw, PythonThread& out, bool& new_code);
  std::shared_ptr<const PythonCode> code_at(uint64_t address, const char* header, bool& new_code);
  bool is_code_type(uint64_t type);
  pid_t native_id(const RawThread& thread) const;

  struct Known {
    std::shared_ptr<const PythonCode> code;
    uint64_t file = 0, name = 0, lines = 0;  // addresses: another code object in the same place
    int first_line = 0;                      // differs in one of these
  };

  MemoryReader memory_;
  const PythonRuntime runtime_;
  const PythonOffsets offsets_;
  uint64_t code_type_ = 0;
  std::unordered_map<uint64_t, Known> codes_;
  struct Remembered {  // of a thread
    FramePages pages{};
    RawStack last{};    // accepted
    uint64_t base = 0;  // its outermost frame
    uint64_t cframe = 0;
  };
  std::unordered_map<uint64_t, Remembered> threads_;
  std::map<uint64_t, std::string> type_names_;
};

}  // namespace headway
