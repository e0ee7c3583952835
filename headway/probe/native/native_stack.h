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

// One function on a native stack. `image`: nullptr if there is no file, or it cannot be read.
struct NativeFrame {
  NativeImage* image = nullptr;
  uint64_t address = 0;    // in its file; without a file, in memory
  bool generated = false;  // generated while the program runs
};

// The values of a thread's registers by DWARF number; [kReturnAddress]: where it was in the code.
using NativeRegisters = std::array<std::optional<uint64_t>, kRegisters>;

// A copy of the inner end of a thread's stack.
struct StackCopy {
  uint64_t address = 0;  // of its first byte
  std::string bytes{};
};

// Stacks of native code of one process, from the call frames that its files describe. Where they
// describe nothing, the stack ends: it may be shorter than the real one, but never wrong. Not for
// several threads.
class NativeStacks {
 public:
  NativeStacks(pid_t pid, FileUser user, NativeImages& images)
      : pid_(pid), user_(std::move(user)), images_(images) {}

  // Of a thread that waits in the kernel, innermost first. Empty if it runs, if it moved while it
  // was read, or if we may not look. `runs`: it is on a core, or ready to run.
  std::vector<NativeFrame> waiting(pid_t tid, const MemoryReader& memory, bool* runs = nullptr);
  // From registers and a copy of the stack at one moment. `whole`: reached the outermost function.
  std::vector<NativeFrame> walk(NativeRegisters registers, const StackCopy& stack,
                                bool* whole = nullptr);

 private:
  const CodeMap::Piece* piece_at(uint64_t address);
  // The file that a place in memory belongs to, and the address in that file.
  std::optional<NativeFrame> frame_at(uint64_t place);
  std::optional<uint64_t> frame_pointer_of(const NativeFrame& frame, FrameRule rule,
                                           uint64_t stack_pointer, const StackCopy& stack);

  const pid_t pid_;
  const FileUser user_;
  NativeImages& images_;
  CodeMap map_;
  std::unordered_map<uint64_t, NativeImage*> opened_;  // by the address where the mapping begins
  int64_t mapped_ns_ = 0;
};

}  // namespace headway
