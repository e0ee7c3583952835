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
  uint64_t address = 0;      // of the frame, in the target
  uint64_t instruction = 0;  // position in the code; differs when the frame has moved on
};

struct PythonThread {
  pid_t tid = 0;  // its number in the target's PID namespace; 0: not known
  bool holds_gil = false;
  bool torn = false;  // it changed during every read; `frames` are the outer ones that did not
  std::vector<PythonFrame> frames{};  // innermost first
  uint64_t fingerprint = 0;           // hash of all frames with their instructions
};

struct PythonThreads {
  std::vector<PythonThread> read{};  // the main thread first
  size_t all = 0;  // number of threads; of very many only a part is read, each time another one
};

// Reads the Python stacks of the threads of a running process without stopping it. A stack is
// accepted if two copies in a row agree in all frames (the innermost may move on), if it ends with
// the same frame as before, and if all its frames are code. Otherwise it is read again. A target
// with false data yields wrong stacks, but cannot crash us, hold us up or fill our memory. Not for
// several threads.
class PythonStacks {
 public:
  PythonStacks(const PythonStacks&) = delete;
  // Throws Error if the version's layout is not known.
  PythonStacks(pid_t pid, const PythonRuntime& runtime);
  // `main_tid`: the main thread's number in the target's own namespace.
  PythonStacks(MemoryReader memory, pid_t main_tid, const PythonRuntime& runtime);

  // None if the target is gone or cannot be read. A stack that keeps changing is read again for up
  // to `patience_s`: no thread holds Python's lock for more than 5 ms while others want it.
  PythonThreads read(double patience_s = 0);
  // After this moment (of now_ns) nothing more is read, until a later one is set. Threads that were
  // not reached come first next time.
  void stop_at(int64_t ns) { memory_.stop_at(ns); }
  size_t kept_bytes() const;  // memory used by what is remembered

  const MemoryReader& memory() const { return memory_; }
  const PythonOffsets& offsets() const { return offsets_; }
  PythonObjects& objects() { return objects_; }
  uint64_t interpreter() const;  // address of the first interpreter state; 0: cannot be read

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
    bool moved = false;  // the function changed while the copy was made: it mixes moments
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
  struct Remembered {  // about one thread
    FramePages pages{};
    RawStack last{};    // the last accepted one
    uint64_t base = 0;  // address of its outermost frame
    uint64_t cframe = 0;

    size_t kept_bytes() const { return pages.kept_bytes() + last.capacity() * sizeof(RawFrame); }
  };
  std::unordered_map<uint64_t, Remembered> threads_;
  size_t next_thread_ = 0;  // the next one to read, of those other than the main thread
};

}  // namespace headway
