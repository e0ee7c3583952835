#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// What the first instructions of an x86-64 function say about its frame. For threads that wait in
// the kernel we cannot read the frame pointer, and functions that use one describe nothing else.
namespace headway {

// How far the stack pointer is below the frame pointer, anywhere after the first instructions:
//
//   push rbp; mov rbp, rsp; push r15; push rbx; sub rsp, 0x28     ->  16 + 0x28
//
// `code`: the function's code from its first byte; `at`: offset in it; `saved`: how many registers
// it saves for its caller. Returns nothing if the code begins differently, saves fewer, or `at` is
// not after these instructions.
std::optional<uint64_t> below_frame_pointer(std::string_view code, uint64_t at, size_t saved = 0);

// Does this code end in a call instruction? Then the address after it is a return address.
bool ends_in_call(std::string_view code);
// The address that this call goes to, if the instruction itself contains it; `behind`: the address
// where the instruction ends.
std::optional<uint64_t> called_place(std::string_view code, uint64_t behind);

}  // namespace headway
