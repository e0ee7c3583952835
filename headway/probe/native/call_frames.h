#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "headway/probe/process/elf_image.h"

namespace headway {

// Registers of x86-64 as DWARF numbers them; the 17th is the address that a function returns to.
inline constexpr size_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16, kRegisters = 17;

// At one place of the code: where its caller's registers are to be found.
struct FrameRule {
  enum class How : uint8_t {
    kSame,            // it still has the caller's value
    kUndefined,       // lost; of the return address: this is the outermost function
    kInMemory,        // at the frame's address + number
    kIsAddress,       // it is the frame's address + number
    kInRegister,      // number
    kInMemoryByCode,  // where this piece of DWARF code says
    kIsResultOfCode,  //
  };
  struct Where {
    How how = How::kSame;
    int64_t number = 0;
    std::string code{};
  };
  // The frame's address (CFA): a register + number, or what a piece of code says.
  size_t base = kStackPointer;
  int64_t offset = 8;
  std::string code{};
  std::array<Where, kRegisters> registers{};
  bool interrupted = false;  // a signal's frame: its caller stands at, not behind, its address
  uint64_t function = 0;     // where the function begins
};

// The call frames of one program or library, from its .eh_frame: how to get from a function to its
// caller. A function that is not described there has none, and nothing is guessed.
class CallFrames {
 public:
  // Nothing where the file has no sorted table of them.
  static std::unique_ptr<CallFrames> of(std::shared_ptr<const ElfImage> image);

  // For an address of the file; nullptr when it is not described. Valid until the next call.
  const FrameRule* at(uint64_t address);
  size_t kept_bytes() const { return known_.size() * sizeof(FrameRule); }

 private:
  explicit CallFrames(std::shared_ptr<const ElfImage> image) : image_(std::move(image)) {}
  std::optional<uint64_t> description_of(uint64_t address) const;
  std::optional<FrameRule> read(uint64_t address) const;

  std::shared_ptr<const ElfImage> image_;
  uint64_t header_ = 0;  // address of .eh_frame_hdr
  uint64_t table_ = 0;   // offset in the file of its sorted table
  uint64_t count_ = 0;
  std::unordered_map<uint64_t, std::optional<FrameRule>> known_;
};

}  // namespace headway
