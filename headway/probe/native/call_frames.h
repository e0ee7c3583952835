#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "headway/probe/process/elf_image.h"

namespace headway {

// Registers of x86-64 by their DWARF numbers; the 17th is the return address of a function.
inline constexpr size_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16, kRegisters = 17;

// For one place in the code: where the values of its caller's registers are.
struct FrameRule {
  enum class How : uint8_t {
    kSame,            // it still has the caller's value
    kUndefined,       // lost; for the return address: this is the outermost function
    kInMemory,        // at the frame's address + number
    kIsAddress,       // it is the frame's address + number
    kInRegister,      // number
    kInMemoryByCode,  // at the address that this piece of DWARF code computes
    kIsResultOfCode,  //
  };
  struct Where {
    How how = How::kSame;
    int64_t number = 0;
    std::string code{};
  };
  // The frame's address (CFA): a register + number, or the result of a piece of DWARF code.
  size_t base = kStackPointer;
  int64_t offset = 8;
  std::string code{};
  std::array<Where, kRegisters> registers{};
  bool interrupted = false;  // a signal's frame: its caller is at its address, not after it
  uint64_t function = 0;     // where the function begins
};

// The call frames of one program or library, from its .eh_frame: how to get from a function to its
// caller. For a function that is not described there it returns nothing; it never guesses.
class CallFrames {
 public:
  // Nothing if the file has no sorted table of them.
  static std::unique_ptr<CallFrames> of(std::shared_ptr<const ElfImage> image);

  // For an address in the file; nullptr if not described. Valid until the next call.
  const FrameRule* at(uint64_t address);
  size_t kept_bytes() const { return known_.size() * sizeof(FrameRule); }

 private:
  explicit CallFrames(std::shared_ptr<const ElfImage> image) : image_(std::move(image)) {}
  std::optional<uint64_t> description_of(uint64_t address) const;
  std::optional<FrameRule> read(uint64_t address) const;

  std::shared_ptr<const ElfImage> image_;
  uint64_t header_ = 0;  // address of .eh_frame_hdr in the file
  uint64_t table_ = 0;   // file offset of its sorted table
  uint64_t count_ = 0;
  std::unordered_map<uint64_t, std::optional<FrameRule>> known_;
};

}  // namespace headway
