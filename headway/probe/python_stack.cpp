#include "headway/probe/python_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/probe/line_table.h"
#include "headway/probe/source_lines.h"

namespace headway {
namespace {

constexpr int kTries = 12;
constexpr size_t kDeepest = 1024;  // frames kept of a deeper stack: none, it is called torn
constexpr size_t kMostThreads = 512;
constexpr size_t kMostCodes = 20000;  // remembered; beyond that they are forgotten and read again
constexpr int64_t kLongestTable = 1 << 20;
constexpr int kOwnedByGenerator = 1;
constexpr int kOwnedByC = 3;  // and above: a frame that only marks where C called Python (3.12+)
constexpr double kPauseS = 100e-6;

PythonOffsets known_offsets(const MemoryReader& memory, const PythonRuntime& runtime) {
  std::optional<PythonOffsets> offsets = offsets_of(runtime.version);
  if (runtime.version == PythonVersion{3, 14}) {
    uint64_t description[kDescribed];
    if (memory.read(runtime.address, description, sizeof description))
      offsets = described_offsets(description);
  }
  if (offsets) return *offsets;
  throw Error(fmt::format("the stacks of Python {}.{} cannot be read", runtime.version.major,
                          runtime.version.minor),
              "CPython 3.8 to 3.14 with its lock are known; what /proc tells is used without");
}

template <typename T>
T at(const char* bytes, int offset) {
  T out;
  std::memcpy(&out, bytes + offset, sizeof out);
  return out;
}

// How many frames, from the outermost on, are the same in both.
template <typename Stack>
size_t equal_outer_frames(const Stack& a, const Stack& b) {
  const auto differ = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first;
  return static_cast<size_t>(differ - a.rbegin());
}

// The same frames, of which the innermost may stand elsewhere in its code, or have returned from
// what it called.
template <typename Stack>
bool only_innermost_moved(const Stack& before, const Stack& now) {
  const size_t equal = equal_outer_frames(before, now);
  if (equal == now.size()) return true;
  if (equal + 1 != now.size() || before.size() < now.size()) return false;
  const auto& then = before[before.size() - now.size()];
  return then.address == now[0].address && then.code == now[0].code;
}

uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }

}  // namespace

PythonStacks::PythonStacks(pid_t pid, const PythonRuntime& runtime)
    : memory_(pid), runtime_(runtime), offsets_(known_offsets(memory_, runtime)) {}

std::vector<PythonThread> PythonStacks::read(double patience_s) {
  if (threads_.size() > 4 * kMostThreads) threads_.clear();
  uint64_t holder = 0;
  std::vector<PythonThread> out;
  for (const RawThread& thread : list_threads(holder)) {
    PythonThread& seen = out.emplace_back();
    seen.tid = native_id(thread);
    seen.holds_gil = thread.address == holder;
    read_stack(thread, patience_s, seen);
  }
  return out;
}

void PythonStacks::read_stack(const RawThread& thread, double patience_s, PythonThread& out) {
  Remembered& known = threads_[thread.address];
  const int64_t until = now_ns() + static_cast<int64_t>(1e9 * patience_s);
  std::optional<RawStack> before;
  RawStack still;  // the longest outer part that two copies agreed in
  for (int tries = 0; tries < kTries || now_ns() < until; ++tries) {
    if (tries >= kTries && tries % 2 == 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(kPauseS));
    std::optional<RawStack> now = walk(thread.address);
    if (!now) {
      before.reset();
      continue;
    }
    const bool as_last_time = !known.last.empty() && *now == known.last;
    if (!before && !as_last_time) {
      before = std::move(now);
      continue;
    }
    const size_t equal = before ? equal_outer_frames(*before, *now) : now->size();
    const bool same = as_last_time || (before && *before == *now);
    bool new_code = false;
    if ((same || (before && only_innermost_moved(*before, *now))) &&
        is_base(thread.address, *now, same) && resolve(*now, out, new_code)) {
      // Code that was never seen before may have been thrown away before it was read.
      const auto after = new_code ? walk(thread.address) : std::nullopt;
      if (!new_code || (after && equal_outer_frames(*now, *after) == now->size())) {
        known.last = std::move(*now);
        known.base = known.last.empty() ? 0 : known.last.back().address;
        out.torn = false;
        return;
      }
    } else if (equal > still.size() && now->back().address == known.base) {
      still.assign(now->end() - static_cast<long>(equal), now->end());
    }
    before = std::move(now);
  }
  out.torn = true;
  bool new_code = false;
  if (!resolve(still, out, new_code)) out.frames.clear();
}

std::vector<PythonStacks::RawThread> PythonStacks::list_threads(uint64_t& holder) {
  std::vector<RawThread> out;
  auto interpreter = memory_.value<uint64_t>(runtime_.address + offsets_.interpreters_head);
  for (int i = 0; interpreter && *interpreter && i < 16; ++i) {
    auto thread = memory_.value<uint64_t>(*interpreter + offsets_.threads_head);
    while (thread && *thread && out.size() < kMostThreads) {
      std::string bytes(static_cast<size_t>(offsets_.thread_bytes), '\0');
      if (!memory_.read(*thread, bytes.data(), bytes.size())) break;
      RawThread& raw = out.emplace_back();
      raw.address = *thread;
      raw.next = at<uint64_t>(bytes.data(), offsets_.thread_next);
      raw.id = at<uint64_t>(bytes.data(), offsets_.thread_id);
      if (offsets_.native_id != PythonOffsets::kNone)
        raw.native = at<uint64_t>(bytes.data(), offsets_.native_id);
      thread = raw.next;
    }
    if (offsets_.gil != PythonOffsets::kNone && holder == 0) {
      const uint64_t gil = memory_.value<uint64_t>(*interpreter + offsets_.gil).value_or(0);
      if (memory_.value<int>(gil + offsets_.gil_locked).value_or(0) == 1)
        holder = memory_.value<uint64_t>(gil + offsets_.gil_last_holder).value_or(0);
    }
    interpreter = memory_.value<uint64_t>(*interpreter + offsets_.interpreter_next);
  }
  if (offsets_.current_thread != PythonOffsets::kNone)
    holder = memory_.value<uint64_t>(runtime_.address + offsets_.current_thread).value_or(0);
  return out;
}

// All frames from one copy of the pages they lie in, or nothing: then those pages are known next
// time.
std::optional<PythonStacks::RawStack> PythonStacks::walk(uint64_t thread) {
  Remembered& known = threads_[thread];
  uint64_t frame = 0, first = 0, frame_after = 0, first_after = 0;
  const bool indirect = offsets_.cframe_frame != PythonOffsets::kNone;
  const uint64_t top = thread + uint64_t(offsets_.frame);
  const uint64_t below = known.cframe + uint64_t(std::max(0, offsets_.cframe_frame));
  const size_t words = indirect ? 2 : 1;
  const MemoryReader::Piece before[] = {{top, &first, 8}, {below, &frame, 8}};
  const MemoryReader::Piece after[] = {{top, &first_after, 8}, {below, &frame_after, 8}};
  const bool copied = known.pages.copy(memory_, std::span(before, words), std::span(after, words));
  if (indirect && (!copied || first != known.cframe)) {
    known.cframe = memory_.value<uint64_t>(top).value_or(0);
    return std::nullopt;
  }
  // Another function runs now than when the copy began: it is of several moments.
  if (!copied || first != first_after || frame != frame_after) return std::nullopt;
  if (!indirect) frame = first;
  RawStack out;
  bool whole = true;
  std::string bytes(static_cast<size_t>(offsets_.frame_bytes), '\0');
  while (frame != 0) {
    if (out.size() == kDeepest) return std::nullopt;
    if (!known.pages.get(frame, bytes.data(), bytes.size())) {
      whole = false;
      if (!memory_.read(frame, bytes.data(), bytes.size())) return std::nullopt;
    }
    RawFrame& raw = out.emplace_back();
    raw.address = frame;
    raw.back = at<uint64_t>(bytes.data(), offsets_.frame_back);
    raw.code = at<uint64_t>(bytes.data(), offsets_.frame_code) & ~offsets_.tag_bits;
    raw.instruction = offsets_.instruction_bytes
                          ? uint64_t(at<int>(bytes.data(), offsets_.frame_instruction))
                          : at<uint64_t>(bytes.data(), offsets_.frame_instruction);
    if (offsets_.frame_owner != PythonOffsets::kNone)
      raw.owner = bytes[static_cast<size_t>(offsets_.frame_owner)];
    frame = raw.back;
  }
  if (!whole) return std::nullopt;
  return out;
}

// A thread's outermost frame stays where it is while everything above it changes: a stack that ends
// elsewhere led through a frame that had just gone, unless all of it stands still. No generator is
// outermost.
bool PythonStacks::is_base(uint64_t thread, const RawStack& stack, bool stands_still) {
  if (stack.empty()) return stands_still;
  if (offsets_.frame_owner != PythonOffsets::kNone && stack.back().owner == kOwnedByGenerator)
    return false;
  return stands_still || threads_[thread].base == stack.back().address;
}

// It only marks where C called Python.
bool PythonStacks::is_mark(const RawFrame& frame) const {
  return offsets_.gil != PythonOffsets::kNone && frame.owner >= kOwnedByC;
}

bool PythonStacks::resolve(const RawStack& raw, PythonThread& out, bool& new_code) {
  const auto size = static_cast<size_t>(offsets_.code_size);
  std::vector<char> headers(raw.size() * size);
  std::vector<MemoryReader::Piece> pieces;
  for (size_t i = 0; i < raw.size(); ++i)
    pieces.push_back({raw[i].code, headers.data() + i * size, size});
  // A marking frame may have no code: its header stays empty.
  size_t done = 0;
  while (done < pieces.size()) {
    done += memory_.read(std::span(pieces).subspan(done));
    if (done < pieces.size() && !is_mark(raw[done])) return false;
    if (done < pieces.size()) ++done;
  }
  out.frames.clear();
  out.fingerprint = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < raw.size(); ++i) {
    const char* header = headers.data() + i * size;
    if (is_mark(raw[i])) continue;
    if (!is_code_type(at<uint64_t>(header, 8))) return false;
    const auto code = code_at(raw[i].code, header, new_code);
    if (!code) return false;
    PythonFrame& frame = out.frames.emplace_back();
    frame.code = code;
    frame.address = raw[i].address;
    const int64_t offset =
        offsets_.instruction_bytes
            ? int64_t(raw[i].instruction) * offsets_.instruction_bytes
            : int64_t(raw[i].instruction) - int64_t(raw[i].code) - offsets_.code_bytes;
    frame.instruction = static_cast<uint64_t>(offset);
    frame.line = line_of(offsets_.lines, code->lines, code->first_line, offset);
    out.fingerprint = mix(mix(out.fingerprint, raw[i].code), frame.instruction);
  }
  return true;
}

std::shared_ptr<const PythonCode> PythonStacks::code_at(uint64_t address, const char* header,
                                                        bool& new_code) {
  Known now;
  now.file = at<uint64_t>(header, offsets_.code_file);
  now.lines = at<uint64_t>(header, offsets_.code_lines);
  const int name =
      offsets_.code_qualname != PythonOffsets::kNone ? offsets_.code_qualname : offsets_.code_name;
  now.name = at<uint64_t>(header, name);
  now.first_line = at<int>(header, offsets_.code_first_line);
  const auto known = codes_.find(address);
  if (known != codes_.end() && known->second.file == now.file && known->second.name == now.name &&
      known->second.lines == now.lines && known->second.first_line == now.first_line) {
    return known->second.code;
  }
  new_code = true;
  auto code = std::make_shared<PythonCode>();
  const auto file = text(now.file), function = text(now.name);
  const auto size = memory_.value<int64_t>(now.lines + 16);
  if (!file || !function || !size || *size < 0 || *size > kLongestTable) return nullptr;
  code->file = *file, code->function = *function;
  code->users = is_users_file(code->file);
  code->id = std::hash<std::string>()(code->file + "\n" + code->function);
  code->first_line = now.first_line;
  code->lines.resize(static_cast<size_t>(*size));
  if (!memory_.read(now.lines + 32, code->lines.data(), code->lines.size())) return nullptr;
  const uint64_t names = at<uint64_t>(header, offsets_.code_names);
  const int64_t count = memory_.value<int64_t>(names + 16).value_or(0);
  for (int64_t i = 0; i < std::min<int64_t>(count, 256); ++i) {
    const uint64_t item = memory_.value<uint64_t>(names + 24 + uint64_t(i) * 8).value_or(0);
    code->locals.push_back(text(item, 64).value_or(""));
  }
  if (codes_.size() >= kMostCodes) codes_.clear();
  now.code = code;
  codes_[address] = now;
  return code;
}

bool PythonStacks::is_code_type(uint64_t type) {
  if (type == code_type_ && type != 0) return true;
  if (code_type_ != 0 || type_name(type) != "code") return false;
  code_type_ = type;
  return true;
}

std::string PythonStacks::type_name(uint64_t type) {
  const auto known = type_names_.find(type);
  if (known != type_names_.end()) return known->second;
  const auto name = memory_.value<uint64_t>(type + 24);
  const std::string text = name ? memory_.c_string(*name, 64).value_or("") : "";
  if (type_names_.size() > 1000) type_names_.clear();
  if (!text.empty()) type_names_[type] = text;
  return text;
}

std::optional<std::string> PythonStacks::text(uint64_t object, size_t limit) const {
  char head[40];
  if (object == 0 || !memory_.read(object, head, sizeof head)) return std::nullopt;
  const auto length = at<int64_t>(head, 16);
  const auto state = at<uint32_t>(head, 32);
  const uint32_t kind = state >> 2 & 7;
  const bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
  if (length < 0 || length > (1 << 20) || !compact || (kind != 1 && kind != 2 && kind != 4))
    return std::nullopt;
  const auto count = std::min<size_t>(static_cast<size_t>(length), limit);
  std::string bytes(count * kind, '\0');
  if (!memory_.read(object + uint64_t(ascii ? offsets_.text_ascii : offsets_.text_compact),
                    bytes.data(), bytes.size()))
    return std::nullopt;
  if (kind == 1 && ascii) return bytes;
  std::string out;
  for (size_t i = 0; i < count; ++i) {  // to UTF-8
    uint32_t c = 0;
    std::memcpy(&c, bytes.data() + i * kind, kind);
    if (c < 0x80) {
      out += char(c);
    } else if (c < 0x800) {
      out += char(0xc0 | c >> 6), out += char(0x80 | (c & 63));
    } else if (c < 0x10000) {
      out += char(0xe0 | c >> 12), out += char(0x80 | (c >> 6 & 63)), out += char(0x80 | (c & 63));
    } else {
      out += char(0xf0 | (c >> 18 & 7)), out += char(0x80 | (c >> 12 & 63));
      out += char(0x80 | (c >> 6 & 63)), out += char(0x80 | (c & 63));
    }
  }
  return out;
}

// Older versions keep only pthread_t; glibc's structure holds the number at a fixed place.
pid_t PythonStacks::native_id(const RawThread& thread) const {
  if (offsets_.native_id != PythonOffsets::kNone) return static_cast<pid_t>(thread.native);
  constexpr uint64_t kTidInPthread = 720;
  return memory_.value<int>(thread.id + kTidInPthread).value_or(0);
}

}  // namespace headway
