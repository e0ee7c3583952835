#include "headway/probe/native/prologue.h"

#include <cstring>

#include "headway/probe/native/dwarf_cursor.h"

namespace headway {
namespace {

bool next_is(std::string_view code, size_t at, std::string_view bytes) {
  return at <= code.size() && code.substr(at).starts_with(bytes);
}

// The stack pointer changes in a way that depends on its value: "and rsp, -32".
constexpr std::string_view kAligns[] = {{"\x48\x83\xe4", 3}, {"\x48\x81\xe4", 3}};

}  // namespace

std::optional<uint64_t> below_frame_pointer(std::string_view code, uint64_t at, size_t saved) {
  constexpr std::string_view kBranchTarget{"\xf3\x0f\x1e\xfa", 4};
  constexpr std::string_view kPushFrame{"\x55", 1};
  constexpr std::string_view kSetFrame{"\x48\x89\xe5", 3}, kSetFrameToo{"\x48\x8b\xec", 3};
  constexpr std::string_view kSubtract8{"\x48\x83\xec", 3}, kSubtract32{"\x48\x81\xec", 3};
  size_t place = next_is(code, 0, kBranchTarget) ? kBranchTarget.size() : 0;
  if (!next_is(code, place, kPushFrame)) return std::nullopt;
  place += kPushFrame.size();
  if (!next_is(code, place, kSetFrame) && !next_is(code, place, kSetFrameToo)) return std::nullopt;
  place += kSetFrame.size();
  uint64_t below = 0;
  for (;; below += 8) {  // push of a register, the upper eight with a prefix
    const auto byte = [&](size_t i) {
      return place + i < code.size() ? static_cast<uint8_t>(code[place + i]) : 0;
    };
    if (byte(0) >= 0x50 && byte(0) <= 0x57) place += 1;
    else if (byte(0) == 0x41 && byte(1) >= 0x50 && byte(1) <= 0x57) place += 2;
    else break;
  }
  if (below < 8 * saved) return std::nullopt;
  for (const std::string_view aligns : kAligns)
    if (next_is(code, place, aligns)) return std::nullopt;
  if (next_is(code, place, kSubtract8)) {
    DwarfCursor in(code.substr(place + kSubtract8.size()));
    below += static_cast<uint64_t>(int64_t{in.take<int8_t>()});
    place += kSubtract8.size() + 1;
    if (!in.good()) return std::nullopt;
  } else if (next_is(code, place, kSubtract32)) {
    DwarfCursor in(code.substr(place + kSubtract32.size()));
    below += static_cast<uint64_t>(int64_t{in.take<int32_t>()});
    place += kSubtract32.size() + 4;
    if (!in.good()) return std::nullopt;
  }
  if (at < place) return std::nullopt;
  return below;
}

bool ends_in_call(std::string_view code) {
  const auto back = [&](size_t bytes) {
    return bytes <= code.size() ? static_cast<uint8_t>(code[code.size() - bytes]) : 0;
  };
  if (back(5) == 0xe8) return true;  // to a fixed address
  // Through a register or memory: ff /2, followed by what its second byte requires.
  const auto calls = [](uint8_t second) { return (second & 0x38) == 0x10; };
  const auto mode = [](uint8_t second) { return second >> 6; };
  const auto has_index = [](uint8_t second) { return (second & 7) == 4 && second >> 6 != 3; };
  const auto from_here = [](uint8_t second) { return (second & 0xc7) == 0x05; };
  if (back(2) == 0xff && calls(back(1)) && !has_index(back(1)) &&
      (mode(back(1)) == 3 || (mode(back(1)) == 0 && !from_here(back(1)))))
    return true;
  if (back(3) == 0xff && calls(back(2)) &&
      ((mode(back(2)) == 1 && !has_index(back(2))) || (mode(back(2)) == 0 && has_index(back(2)))))
    return true;
  if (back(4) == 0xff && calls(back(3)) && mode(back(3)) == 1 && has_index(back(3))) return true;
  if (back(6) == 0xff && calls(back(5)) &&
      (from_here(back(5)) || (mode(back(5)) == 2 && !has_index(back(5)))))
    return true;
  return back(7) == 0xff && calls(back(6)) && mode(back(6)) == 2 && has_index(back(6));
}

std::optional<uint64_t> called_place(std::string_view code, uint64_t behind) {
  constexpr size_t kDirect = 5;
  if (code.size() < kDirect) return std::nullopt;
  DwarfCursor in(code.substr(code.size() - kDirect));
  if (in.take<uint8_t>() != 0xe8) return std::nullopt;
  return behind + static_cast<uint64_t>(int64_t{in.take<int32_t>()});
}

}  // namespace headway
