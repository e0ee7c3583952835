#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "headway/probe/process/memory_reader.h"
#include "headway/probe/python/frame_pages.h"
#include "headway/probe/python/python_objects.h"
#include "headway/probe/python/python_runtime.h"

namespace headway {

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

struct PythonThreads {
  std::vector<PythonThread> read{};  // the main thread first
  size_t all = 0;  // so many there are: of very many a part is read, another one each time
};

// Reads the Python stacks of the threads of a running process, without stopping it. A stack counts
// when two copies in a row agree in all frames, but that the innermost may move on; when it ends
// where that thread's stack ended before; and when it leads through code only. Else it is read
// again. A target that lies gets wrong stacks, but neither crashes us nor holds us nor fills our
// memory. Not for several threads.
class PythonStacks {
 public:
  PythonStacks(const PythonStacks&) = delete;
  // Error when the version's layout is not known.
  PythonStacks(pid_t pid, const PythonRuntime& runtime);
  // `main_tid`: the main thread's number in the target's own namespace.
  PythonStacks(MemoryReader memory, pid_t main_tid, const PythonRuntime& runtime);

  // None when the target is gone or may not be read. A stack that never stands still is tried
  // again for so long: no thread keeps Python's lock for more than 5 ms while others want it.
  PythonThreads read(double patience_s = 0);
  // Nothing is read after this moment (of now_ns) until another one is named: what was not reached
  // comes first next time.
  void stop_at(int64_t ns) { memory_.stop_at(ns); }
  size_t kept_bytes() const;  // remembered

  const MemoryReader& memory() const { return memory_; }
  const PythonOffsets& offsets() const { return offsets_; }
  PythonObjects& objects() { return objects_; }
  uint64_t interpreter() const;  // address of the state of the first one; 0: not to be read

 private:
  struct RawThread {
    uint64_t address = 0, next = 0;
    pid_t tid = 0;
  };
  struct RawFrame {
    uint64_t address = 0, back = 0, code = 0, instruction = 0;
    int owner = 0;

    bool operator==(const RawFrame&) const = default;
  };

  using RawStack = std::vector<RawFrame>;
  struct Walk {
    RawStack frames{};
    bool moved = false;  // another function runs now than when the copy began: of several moments
  };

  std::vector<RawThread> list_threads(uint64_t& holder) const;
  std::optional<RawThread> thread_at(uint64_t address) const;
  void list_threads_of(uint64_t interpreter, std::vector<RawThread>& out) const;
  size_t thread_bytes() const;
  void read_stack(const RawThread& thread, double patience_s, PythonThread& out);
  std::optional<Walk> walk(uint64_t thread);
  std::optional<RawStack> frames_from(uint64_t frame, FramePages& pages, bool& moved) const;
  std::optional<RawFrame> frame_in(TargetBytes bytes, uint64_t address) const;
  bool is_base(uint64_t thread, const RawStack& stack, bool stands_still);
  bool is_mark(const RawFrame& frame) const;
  bool resolve(const RawStack& raw, PythonThread& out, bool& new_code);

  MemoryReader memory_;
  const pid_t main_tid_;
  const PythonRuntime runtime_;
  const PythonOffsets offsets_;
  PythonObjects objects_;
  struct Remembered {  // of a thread
    FramePages pages{};
    RawStack last{};    // accepted
    uint64_t base = 0;  // its outermost frame
    uint64_t cframe = 0;

    size_t kept_bytes() const { return pages.kept_bytes() + last.capacity() * sizeof(RawFrame); }
  };
  std::unordered_map<uint64_t, Remembered> threads_;
  size_t next_thread_ = 0;  // whose turn it is, of those beside the main thread
};

}  // namespace headway
