#include "headway/probe/native/native_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "headway/core/clock.h"
#include "headway/probe/native/dwarf_cursor.h"
#include "headway/probe/native/prologue.h"
#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

constexpr size_t kMostFrames = 96, kPage = 4096, kPages = 8, kMostOperations = 64;
constexpr size_t kLongestPrologue = 48, kLongestCall = 8;
constexpr int64_t kMapAgainNs = 3'000'000'000;  // before reading it again for an unknown address
constexpr int64_t kOldMapNs = 15'000'000'000;

std::optional<uint64_t> word_at(const StackCopy& stack, uint64_t address) {
  if (address < stack.address) return std::nullopt;
  return TargetBytes(stack.bytes.data(), stack.bytes.size()).at<uint64_t>(address - stack.address);
}

// The part of the DWARF expression language that compilers use for call frames: a stack machine.
class FrameCode {
 public:
  FrameCode(const NativeRegisters& registers, const StackCopy& stack)
      : registers_(registers), stack_(stack) {}

  std::optional<uint64_t> result(const std::string& code, std::optional<uint64_t> first) {
    values_.clear();
    if (first) values_.push_back(*first);
    DwarfCursor in(code);
    for (size_t n = 0; !in.at_end(); ++n)
      if (n >= kMostOperations || !step(in) || !in.good()) return std::nullopt;
    return pop();
  }

 private:
  std::optional<uint64_t> pop() {
    if (values_.empty()) return std::nullopt;
    const uint64_t out = values_.back();
    values_.pop_back();
    return out;
  }
  bool push(std::optional<uint64_t> value) {
    if (value) values_.push_back(*value);
    return value.has_value();
  }
  bool step(DwarfCursor& in) {
    const auto operation = in.take<uint8_t>();
    if (operation >= 0x30 && operation <= 0x4f) return push(operation - 0x30u);  // a small number
    if (operation >= 0x70 && operation <= 0x8f) {  // a register and an offset
      const size_t reg = operation - 0x70u;
      const auto offset = static_cast<uint64_t>(in.signed_number());
      if (reg >= kRegisters || !registers_[reg]) return false;
      return push(*registers_[reg] + offset);
    }
    switch (operation) {
      case 0x06: {  // read the memory at this address
        const auto address = pop();
        return address && push(word_at(stack_, *address));
      }
      case 0x08: return push(in.take<uint8_t>());
      case 0x09: return push(static_cast<uint64_t>(int64_t{in.take<int8_t>()}));
      case 0x0a: return push(in.take<uint16_t>());
      case 0x0c: return push(in.take<uint32_t>());
      case 0x10: return push(in.unsigned_number());
      case 0x11: return push(static_cast<uint64_t>(in.signed_number()));
      case 0x23: {
        const auto value = pop();
        return value && push(*value + in.unsigned_number());
      }
      default: return two(operation);
    }
  }
  bool two(uint8_t operation) {
    const auto b = pop(), a = pop();
    if (!a || !b) return false;
    switch (operation) {
      case 0x1a: return push(*a & *b);
      case 0x1c: return push(*a - *b);
      case 0x22: return push(*a + *b);
      case 0x24: return push(*b < 64 ? *a << *b : 0);
      case 0x2a: return push(static_cast<int64_t>(*a) >= static_cast<int64_t>(*b) ? 1 : 0);
      default: return false;
    }
  }

  const NativeRegisters& registers_;
  const StackCopy& stack_;
  std::vector<uint64_t> values_;
};

// The caller's registers; nothing at the outermost frame, or if they cannot be determined.
std::optional<NativeRegisters> caller_of(const NativeRegisters& registers, const FrameRule& rule,
                                         const StackCopy& stack) {
  using How = FrameRule::How;
  FrameCode code(registers, stack);
  std::optional<uint64_t> frame;
  if (!rule.code.empty()) frame = code.result(rule.code, std::nullopt);
  else if (registers[rule.base]) frame = *registers[rule.base] + static_cast<uint64_t>(rule.offset);
  if (!frame) return std::nullopt;
  if (rule.registers[kReturnAddress].how == How::kUndefined) return std::nullopt;
  NativeRegisters out;
  for (size_t reg = 0; reg < kRegisters; ++reg) {
    const FrameRule::Where& where = rule.registers[reg];
    const uint64_t there = *frame + static_cast<uint64_t>(where.number);
    switch (where.how) {
      case How::kSame: out[reg] = registers[reg]; break;
      case How::kUndefined: break;
      case How::kInMemory: out[reg] = word_at(stack, there); break;
      case How::kIsAddress: out[reg] = there; break;
      case How::kInRegister:
        if (static_cast<uint64_t>(where.number) < kRegisters)
          out[reg] = registers[static_cast<size_t>(where.number)];
        break;
      case How::kInMemoryByCode:
        if (const auto address = code.result(where.code, frame))
          out[reg] = word_at(stack, *address);
        break;
      case How::kIsResultOfCode: out[reg] = code.result(where.code, frame); break;
    }
  }
  if (rule.registers[kReturnAddress].how == How::kSame) return std::nullopt;
  if (rule.registers[kStackPointer].how == How::kSame) out[kStackPointer] = frame;
  if (!out[kReturnAddress] || *out[kReturnAddress] == 0) return std::nullopt;
  return out;
}

// Where a thread waits: its stack pointer and its address in the code.
struct Standing {
  bool runs = false;
  unsigned long long stack = 0, place = 0;

  bool operator==(const Standing&) const = default;
};

// "202 0x7f.. 0x80 0x0 0x0 0x0 0x0 0x7ffd.. 0x7f..", "-1 0x7ffd.. 0x7f..", "running"
std::optional<Standing> standing_of(pid_t pid, pid_t tid) {
  const std::string text = file_text(fmt::format("/proc/{}/task/{}/syscall", pid, tid), 256);
  if (text.starts_with("running")) return Standing{.runs = true};
  const size_t last = text.rfind(' ');
  if (last == std::string::npos || last == 0) return std::nullopt;
  const size_t before = text.rfind(' ', last - 1);
  if (before == std::string::npos) return std::nullopt;
  Standing out;
  if (std::sscanf(text.c_str() + before, " %llx %llx", &out.stack, &out.place) != 2)
    return std::nullopt;
  return out;
}

}  // namespace

const CodeMap::Piece* NativeStacks::piece_at(uint64_t address) {
  const int64_t now = now_ns();
  const int64_t age = mapped_ns_ == 0 ? kOldMapNs : now - mapped_ns_;
  const CodeMap::Piece* piece = map_.at(address);
  if (age < (piece ? kOldMapNs : kMapAgainNs)) return piece;
  map_ = CodeMap::of(pid_), mapped_ns_ = now;
  opened_.clear();
  return map_.at(address);
}

std::optional<NativeFrame> NativeStacks::frame_at(uint64_t place) {
  const CodeMap::Piece* piece = piece_at(place);
  if (!piece) return std::nullopt;  // no code: so it was not a return address
  const auto [known, is_new] = opened_.try_emplace(piece->begin, nullptr);
  if (is_new) known->second = images_.of(pid_, user_, *piece);
  NativeImage* image = known->second;
  const auto address =
      image ? image->file->address_of(place - piece->begin + piece->offset) : std::nullopt;
  return NativeFrame{address ? image : nullptr, address.value_or(place), piece->is_generated()};
}

// By the function's first instructions; the value found there must be an address after a call.
std::optional<uint64_t> NativeStacks::frame_pointer_of(const NativeFrame& frame, FrameRule rule,
                                                       uint64_t stack_pointer,
                                                       const StackCopy& stack) {
  const auto code_at = [](const NativeFrame& from, uint64_t address, size_t bytes) -> std::string {
    const auto offset = from.image->file->offset_of(address);
    return offset ? from.image->file->part(*offset, bytes) : "";
  };
  size_t saved = 0;  // registers it saves for its caller, besides the frame pointer
  for (size_t reg = 0; reg < kReturnAddress; ++reg)
    saved += reg != kFramePointer && rule.registers[reg].how == FrameRule::How::kInMemory;
  const auto below = below_frame_pointer(code_at(frame, rule.function, kLongestPrologue),
                                         frame.address - rule.function, saved);
  if (!below) return std::nullopt;
  const uint64_t out = stack_pointer + *below;
  const auto outer = word_at(stack, out), returns_to = word_at(stack, out + 8);
  if (!outer || !returns_to || *outer <= out) return std::nullopt;  // the caller's is above
  const auto caller = frame_at(*returns_to - 1);
  if (!caller || !caller->image || caller->address < kLongestCall) return std::nullopt;
  const uint64_t after_call = caller->address + 1;
  const std::string code = code_at(*caller, after_call - kLongestCall, kLongestCall);
  if (!ends_in_call(code)) return std::nullopt;
  if (const auto target = called_place(code, after_call); target && caller->image == frame.image) {
    // The instruction says what it calls: this function, or code that jumps to it (a PLT entry).
    const FrameRule* called = frame.image->frames->at(*target);
    if (called && called->code.empty() && called->function != rule.function) return std::nullopt;
  }
  return out;
}

std::vector<NativeFrame> NativeStacks::walk(NativeRegisters registers, const StackCopy& stack,
                                            bool* whole) {
  std::vector<NativeFrame> out;
  if (whole) *whole = false;
  bool is_return_address = false;  // then the call is before it
  while (out.size() < kMostFrames && registers[kReturnAddress]) {
    const auto frame = frame_at(*registers[kReturnAddress] - (is_return_address ? 1 : 0));
    if (!frame) break;
    out.push_back(*frame);
    if (!frame->image || !frame->image->frames) break;
    const FrameRule* rule = frame->image->frames->at(frame->address);
    if (!rule) break;
    if (whole) *whole = rule->registers[kReturnAddress].how == FrameRule::How::kUndefined;
    if (rule->code.empty() && rule->base == kFramePointer && !registers[kFramePointer] &&
        registers[kStackPointer]) {
      registers[kFramePointer] = frame_pointer_of(*frame, *rule, *registers[kStackPointer], stack);
      rule = frame->image->frames->at(frame->address);  // that may have replaced it
    }
    const auto caller = caller_of(registers, *rule, stack);
    // Stacks grow downwards: a caller's is above, except in a function that has not begun yet.
    if (!caller || !(*caller)[kStackPointer] ||
        *(*caller)[kStackPointer] <= registers[kStackPointer].value_or(0))
      break;
    is_return_address = !rule->interrupted;
    registers = *caller;
  }
  return out;
}

std::vector<NativeFrame> NativeStacks::waiting(pid_t tid, const MemoryReader& memory, bool* runs) {
  if (runs) *runs = false;
  const auto standing = standing_of(pid_, tid);
  if (runs && standing) *runs = standing->runs;
  if (!standing || standing->runs) return {};
  StackCopy stack{standing->stack, std::string(kPages * kPage, '\0')};
  std::vector<MemoryReader::Piece> pieces;  // one per page, since the last ones may not exist
  for (size_t from = 0; from < stack.bytes.size();) {
    const size_t bytes =
        std::min(stack.bytes.size() - from, kPage - (stack.address + from) % kPage);
    pieces.push_back({stack.address + from, stack.bytes.data() + from, bytes});
    from += bytes;
  }
  size_t bytes = 0;
  const size_t came = memory.read(pieces);
  for (size_t i = 0; i < came; ++i) bytes += pieces[i].bytes;
  stack.bytes.resize(bytes);
  if (bytes == 0 || standing_of(pid_, tid) != standing) return {};
  NativeRegisters registers;
  registers[kStackPointer] = standing->stack;
  registers[kReturnAddress] = standing->place;
  return walk(registers, stack);
}

}  // namespace headway
