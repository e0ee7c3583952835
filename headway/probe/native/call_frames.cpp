#include "headway/probe/native/call_frames.h"

#include <algorithm>
#include <vector>

#include "headway/probe/native/dwarf_cursor.h"

namespace headway {
namespace {

constexpr size_t kMostKnown = 4'000;
constexpr uint64_t kLongest = 64 << 10;  // bytes of one description
constexpr uint64_t kLongestCode = 128;   // bytes of one expression
constexpr size_t kMostRemembered = 16;   // rows that DW_CFA_remember_state may put aside
constexpr size_t kMostSteps = 4'000;     // instructions of one description

// How pointers are encoded.
constexpr uint8_t kAbsolute = 0x00, kUnsigned2 = 0x02, kUnsigned4 = 0x03, kUnsigned8 = 0x04,
                  kSigned2 = 0x0a, kSigned4 = 0x0b, kSigned8 = 0x0c, kOmitted = 0xff;
constexpr uint8_t kFromHere = 0x10, kFromHeader = 0x30, kIndirect = 0x80;

// `place`: the address at which the pointer itself is loaded; `header`: that of .eh_frame_hdr.
std::optional<uint64_t> read_pointer(DwarfCursor& from, uint8_t encoding, uint64_t place,
                                     uint64_t header) {
  if (encoding == kOmitted || (encoding & kIndirect)) return std::nullopt;
  uint64_t value = 0;
  switch (encoding & 0x0f) {
    case kAbsolute:
    case kUnsigned8:
    case kSigned8: value = from.take<uint64_t>(); break;
    case kUnsigned2: value = from.take<uint16_t>(); break;
    case kSigned2: value = static_cast<uint64_t>(int64_t{from.take<int16_t>()}); break;
    case kUnsigned4: value = from.take<uint32_t>(); break;
    case kSigned4: value = static_cast<uint64_t>(int64_t{from.take<int32_t>()}); break;
    default: return std::nullopt;
  }
  switch (encoding & 0x70) {
    case 0: break;
    case kFromHere: value += place; break;
    case kFromHeader: value += header; break;
    default: return std::nullopt;
  }
  return from.good() ? std::optional(value) : std::nullopt;
}

// What several functions share (CIE).
struct Common {
  uint64_t code_step = 1;
  int64_t data_step = 1;
  uint8_t pointers = kAbsolute;
  bool has_size = false, interrupted = false;
  std::string code{};
};

// A record of .eh_frame without its length; `at`: the address of what follows the length.
struct Record {
  std::string bytes{};
  uint64_t at = 0;
};

std::optional<Record> record_at(const ElfImage& image, uint64_t address) {
  const auto offset = image.offset_of(address);
  if (!offset) return std::nullopt;
  const auto length = image.table<uint32_t>(*offset, 1);
  if (length.empty() || length[0] < 4 || length[0] > kLongest) return std::nullopt;
  Record out{image.part(*offset + 4, length[0]), address + 4};
  if (out.bytes.size() != length[0]) return std::nullopt;
  return out;
}

std::optional<Common> read_common(const ElfImage& image, uint64_t address) {
  const auto record = record_at(image, address);
  if (!record) return std::nullopt;
  DwarfCursor in(record->bytes);
  Common out;
  if (in.take<uint32_t>() != 0) return std::nullopt;  // not a CIE
  const uint8_t version = in.take<uint8_t>();
  if (version != 1 && version != 3) return std::nullopt;
  const std::string letters = in.text();
  out.code_step = in.unsigned_number();
  out.data_step = in.signed_number();
  if (version == 1) in.take<uint8_t>();
  else in.unsigned_number();  // the register of the return address
  if (!letters.empty() && letters[0] == 'z') {
    out.has_size = true;
    const uint64_t size = in.unsigned_number();
    const size_t end = in.at() + size;
    for (const char letter : letters.substr(1)) {
      if (letter == 'R') {
        out.pointers = in.take<uint8_t>();
      } else if (letter == 'S') {
        out.interrupted = true;
      } else if (letter == 'L') {
        in.take<uint8_t>();
      } else if (letter == 'P') {
        const uint8_t encoding = in.take<uint8_t>() & ~kIndirect;
        read_pointer(in, encoding, 0, 0);
      } else {
        break;  // unknown: the rest is skipped by its size
      }
    }
    in.go_to(end);
  } else if (!letters.empty()) {
    return std::nullopt;
  }
  out.code = in.rest();
  if (!in.good()) return std::nullopt;
  return out;
}

// Runs the instructions that build a table of rules, row by row, up to one address.
class RuleMachine {
 public:
  RuleMachine(const Common& common, uint64_t begin, uint64_t wanted)
      : common_(common), at_(begin), wanted_(wanted) {}

  // False when the code is not understood.
  bool run(const std::string& code) {
    DwarfCursor in(code);
    while (!in.at_end() && in.good() && !done_)
      if (++steps_ > kMostSteps || !step(in)) return false;
    return in.good();
  }
  // The present row is the one to which DW_CFA_restore returns.
  void keep_first() { first_ = row_; }
  FrameRule row() const { return row_; }

 private:
  using How = FrameRule::How;

  void advance(uint64_t by) {
    at_ += by * common_.code_step;
    done_ = at_ > wanted_;
  }
  bool set(uint64_t reg, FrameRule::Where where) {
    if (reg < kRegisters) row_.registers[reg] = std::move(where);
    return true;  // vector registers are not needed
  }
  bool base(uint64_t reg) {
    row_.base = reg, row_.code.clear();
    return reg < kRegisters;
  }
  int64_t scaled(int64_t number) const {
    return static_cast<int64_t>(static_cast<uint64_t>(number) *
                                static_cast<uint64_t>(common_.data_step));
  }
  // A piece of DWARF code; if it is too long, it is left empty, which makes the rule unusable.
  static std::string expression(DwarfCursor& in) {
    std::string out = in.block(in.unsigned_number());
    return out.size() <= kLongestCode ? out : "";
  }
  bool step(DwarfCursor& in);
  bool step_of_low_bits(uint8_t operation, DwarfCursor& in);

  const Common& common_;
  uint64_t at_;
  const uint64_t wanted_;
  size_t steps_ = 0;
  bool done_ = false;
  FrameRule row_{}, first_{};
  std::vector<FrameRule> remembered_;
};

bool RuleMachine::step(DwarfCursor& in) {
  const uint8_t byte = in.take<uint8_t>();
  const uint8_t low = byte & 0x3f;
  switch (byte & 0xc0) {
    case 0x40: advance(low); return true;
    case 0x80:
      return set(low, {How::kInMemory, scaled(static_cast<int64_t>(in.unsigned_number()))});
    case 0xc0:
      if (low < kRegisters) row_.registers[low] = first_.registers[low];
      return true;
    default: return step_of_low_bits(low, in);
  }
}

bool RuleMachine::step_of_low_bits(uint8_t operation, DwarfCursor& in) {
  const auto number = [&] { return in.unsigned_number(); };
  const auto as_signed = [&] { return static_cast<int64_t>(in.unsigned_number()); };
  switch (operation) {
    case 0x00: return true;  // nothing
    case 0x02: advance(in.take<uint8_t>()); return true;
    case 0x03: advance(in.take<uint16_t>()); return true;
    case 0x04: advance(in.take<uint32_t>()); return true;
    case 0x05: {  // offset, extended
      const uint64_t reg = number();
      return set(reg, {How::kInMemory, scaled(as_signed())});
    }
    case 0x06: {  // restore, extended
      const uint64_t reg = number();
      if (reg < kRegisters) row_.registers[reg] = first_.registers[reg];
      return true;
    }
    case 0x07: return set(number(), {How::kUndefined});
    case 0x08: return set(number(), {How::kSame});
    case 0x09: {
      const uint64_t reg = number();
      return set(reg, {How::kInRegister, as_signed()});
    }
    case 0x0a:
      if (remembered_.size() >= kMostRemembered) return false;
      remembered_.push_back(row_);
      return true;
    case 0x0b:
      if (remembered_.empty()) return false;
      row_ = std::move(remembered_.back());
      remembered_.pop_back();
      return true;
    case 0x0c: {
      const uint64_t reg = number();
      row_.offset = as_signed();
      return base(reg);
    }
    case 0x0d: return base(number());
    case 0x0e: row_.offset = as_signed(); return true;
    case 0x0f: row_.code = expression(in); return !row_.code.empty();
    case 0x10: {
      const uint64_t reg = number();
      return set(reg, {How::kInMemoryByCode, 0, expression(in)});
    }
    case 0x11: {
      const uint64_t reg = number();
      return set(reg, {How::kInMemory, scaled(in.signed_number())});
    }
    case 0x12: {
      const uint64_t reg = number();
      row_.offset = scaled(in.signed_number());
      return base(reg);
    }
    case 0x13: row_.offset = scaled(in.signed_number()); return true;
    case 0x14: {
      const uint64_t reg = number();
      return set(reg, {How::kIsAddress, scaled(as_signed())});
    }
    case 0x15: {
      const uint64_t reg = number();
      return set(reg, {How::kIsAddress, scaled(in.signed_number())});
    }
    case 0x16: {
      const uint64_t reg = number();
      return set(reg, {How::kIsResultOfCode, 0, expression(in)});
    }
    case 0x2e: number(); return true;  // GNU: size of arguments
    default: return false;
  }
}

}  // namespace

std::unique_ptr<CallFrames> CallFrames::of(std::shared_ptr<const ElfImage> image) {
  for (const Elf64_Phdr& segment : image->segments()) {
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    const std::string bytes = image->part(segment.p_offset, 64);
    DwarfCursor in(bytes);
    const uint8_t version = in.take<uint8_t>(), frames = in.take<uint8_t>(),
                  count = in.take<uint8_t>(), table = in.take<uint8_t>();
    if (!in.good() || version != 1 || table != (kFromHeader | kSigned4)) return nullptr;
    auto out = std::unique_ptr<CallFrames>(new CallFrames(image));
    out->header_ = segment.p_vaddr;
    read_pointer(in, frames, segment.p_vaddr + in.at(), segment.p_vaddr);
    const auto entries = read_pointer(in, count, segment.p_vaddr + in.at(), segment.p_vaddr);
    if (!entries) return nullptr;
    out->table_ = segment.p_offset + in.at();
    out->count_ = std::min(*entries, segment.p_filesz / 8);
    return out->count_ > 0 ? std::move(out) : nullptr;
  }
  return nullptr;
}

// The address of the description (FDE) of the last function that begins at or before this.
std::optional<uint64_t> CallFrames::description_of(uint64_t address) const {
  struct Entry {
    int32_t begin, description;
  };
  constexpr uint64_t kAtOnce = 64;
  const auto begins = [&](const Entry& e) {
    return header_ + static_cast<uint64_t>(int64_t{e.begin});
  };
  uint64_t low = 0, high = count_;  // the entry wanted is in [low, high)
  while (high - low > kAtOnce) {
    const uint64_t middle = low + (high - low) / 2;
    const auto entry = image_->table<Entry>(table_ + middle * sizeof(Entry), 1);
    if (entry.empty()) return std::nullopt;
    (begins(entry[0]) <= address ? low : high) = middle;
  }
  std::optional<uint64_t> out;
  for (const Entry& entry : image_->table<Entry>(table_ + low * sizeof(Entry), high - low))
    if (begins(entry) <= address) out = header_ + static_cast<uint64_t>(int64_t{entry.description});
  return out;
}

std::optional<FrameRule> CallFrames::read(uint64_t address) const {
  const auto description = description_of(address);
  if (!description) return std::nullopt;
  const auto record = record_at(*image_, *description);
  if (!record) return std::nullopt;
  DwarfCursor in(record->bytes);
  const uint32_t back = in.take<uint32_t>();
  const auto common = back != 0 ? read_common(*image_, record->at - back) : std::nullopt;
  if (!common) return std::nullopt;
  const auto begin = read_pointer(in, common->pointers, record->at + in.at(), header_);
  const auto size = read_pointer(in, common->pointers & 0x0f, 0, 0);
  if (!begin || !size || address < *begin || address - *begin >= *size) return std::nullopt;
  if (common->has_size) {
    const uint64_t skipped = in.unsigned_number();
    in.go_to(in.at() + skipped);
  }
  RuleMachine machine(*common, *begin, address);
  if (!machine.run(common->code)) return std::nullopt;
  machine.keep_first();
  if (!machine.run(in.rest()) || !in.good()) return std::nullopt;
  FrameRule out = machine.row();
  out.interrupted = common->interrupted, out.function = *begin;
  return out;
}

const FrameRule* CallFrames::at(uint64_t address) {
  auto known = known_.find(address);
  if (known == known_.end()) {
    if (known_.size() >= kMostKnown) known_.clear();
    known = known_.emplace(address, read(address)).first;
  }
  return known->second ? &*known->second : nullptr;
}

}  // namespace headway
