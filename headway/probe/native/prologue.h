#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// What the first instructions of an x86-64 function tell of its frame. For threads that wait in the
// kernel the frame pointer is not to be had, and functions that use one say nothing else.
namespace headway {

// How far the stack pointer stands below the frame pointer, anywhere behind the first instructions:
//
//   push rbp; mov rbp, rsp; push r15; push rbx; sub rsp, 0x28     ->  16 + 0x28
//
// `code`: of the function, from its first byte; `at`: how far into it; `saved`: so many registers
// it keeps for its caller. Nothing where the code begins in another way, keeps fewer, or `at` is
// not behind these instructions.
std::optional<uint64_t> below_frame_pointer(std::string_view code, uint64_t at, size_t saved = 0);

// Does a call instruction end where this code ends? What stands there is then a return address.
bool ends_in_call(std::string_view code);
// The address that such a call goes to, where the instruction itself tells; `behind`: the address
// where it ends.
std::optional<uint64_t> called_place(std::string_view code, uint64_t behind);

}  // namespace headway
