#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "headway/probe/native/native_images.h"
#include "headway/probe/process/memory_reader.h"

namespace headway {

// One function on a native stack. `image`: nullptr where its file cannot be read, or there is none.
struct NativeFrame {
  NativeImage* image = nullptr;
  uint64_t address = 0;    // in its file; without one, in memory
  bool generated = false;  // made while the program runs
};

// What a thread's registers held, by DWARF's numbers; [kReturnAddress] is where it stood.
using NativeRegisters = std::array<std::optional<uint64_t>, kRegisters>;

// A copy of the inner end of a thread's stack.
struct StackCopy {
  uint64_t address = 0;  // of its first byte
  std::string bytes{};
};

// Stacks of native code of one process, by what its files say of their call frames. Where they say
// nothing, a stack ends: it may be shorter than the real one, and never different. Not for several
// threads.
class NativeStacks {
 public:
  NativeStacks(pid_t pid, FileUser user, NativeImages& images)
      : pid_(pid), user_(std::move(user)), images_(images) {}

  // Of a thread that waits in the kernel, innermost first. Empty when it runs, when it moved while
  // it was read, or when we may not look. `runs` tells whether it is on a core, or ready to be.
  std::vector<NativeFrame> waiting(pid_t tid, const MemoryReader& memory, bool* runs = nullptr);
  // From registers and a copy of the stack of one moment. `whole`: to the outermost function.
  std::vector<NativeFrame> walk(NativeRegisters registers, const StackCopy& stack,
                                bool* whole = nullptr);

 private:
  const CodeMap::Piece* piece_at(uint64_t address);
  // The file and the address in it of a place in memory.
  std::optional<NativeFrame> frame_at(uint64_t place);
  std::optional<uint64_t> frame_pointer_of(const NativeFrame& frame, FrameRule rule,
                                           uint64_t stack_pointer, const StackCopy& stack);

  const pid_t pid_;
  const FileUser user_;
  NativeImages& images_;
  CodeMap map_;
  std::unordered_map<uint64_t, NativeImage*> opened_;  // by where the piece of the map begins
  int64_t mapped_ns_ = 0;
};

}  // namespace headway
