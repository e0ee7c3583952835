#include "headway/probe/python_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "headway/core/error.h"
#include "headway/probe/line_table.h"
#include "headway/probe/source_lines.h"

namespace headway {
namespace {

constexpr int kTries = 8;
constexpr size_t kDeepest = 1024;  // frames kept of a deeper stack: none, it is called torn
constexpr size_t kMostThreads = 512;
constexpr size_t kMostCodes = 20000;  // remembered; beyond that they are forgotten and read again
constexpr size_t kPage = 4096;
constexpr size_t kPages = 5;  // of Python's frame stack, read at once: a chunk has four
constexpr int64_t kLongestTable = 1 << 20;
constexpr int kOwnedByC = 3;  // a frame that only marks where C called Python (3.12+)

PythonOffsets known_offsets(PythonVersion version) {
  if (const auto offsets = offsets_of(version)) return *offsets;
  throw Error(
      fmt::format("the stacks of Python {}.{} cannot be read", version.major, version.minor),
      "CPython 3.8 to 3.13 are known; what /proc tells is used without");
}

template <typename T>
T at(const char* bytes, int offset) {
  T out;
  std::memcpy(&out, bytes + offset, sizeof out);
  return out;
}

uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }

}  // namespace

PythonStacks::PythonStacks(pid_t pid, const PythonRuntime& runtime)
    : memory_(pid), runtime_(runtime), offsets_(known_offsets(runtime.version)) {}

std::vector<PythonThread> PythonStacks::read() {
  uint64_t holder = 0;
  std::vector<PythonThread> out;
  for (RawThread thread : list_threads(holder)) {
    PythonThread& seen = out.emplace_back();
    seen.tid = native_id(thread);
    seen.holds_gil = thread.address == holder;
    seen.torn = true;
    for (int tries = 0; tries < kTries && seen.torn; ++tries) {
      if (tries > 0) thread.frame = current_frame(thread.address);
      const auto frames = walk(thread);
      seen.torn =
          !frames || !ends_where_it_should(thread.address, *frames) || !resolve(*frames, seen);
    }
    if (seen.torn) seen.frames.clear();
  }
  return out;
}

uint64_t PythonStacks::current_frame(uint64_t thread) const {
  const auto frame = memory_.value<uint64_t>(thread + offsets_.frame);
  if (!frame || offsets_.cframe_frame == PythonOffsets::kNone) return frame.value_or(0);
  return memory_.value<uint64_t>(*frame + offsets_.cframe_frame).value_or(0);
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
      raw.frame = at<uint64_t>(bytes.data(), offsets_.frame);
      if (offsets_.cframe_frame != PythonOffsets::kNone)
        raw.frame = memory_.value<uint64_t>(raw.frame + offsets_.cframe_frame).value_or(0);
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

// From 3.11 on frames lie one behind the other: a copy of the pages around the innermost one holds
// nearly all of them, taken in one moment. Others (generators, older versions) are read singly.
std::optional<std::vector<PythonStacks::RawFrame>> PythonStacks::walk(const RawThread& thread) {
  std::vector<RawFrame> out;
  if (thread.frame == 0) return out;
  pages_.resize(kPage * kPages);
  uint64_t copied_from = 0, copied_to = 0;
  const auto copy_around = [&](uint64_t frame) {
    std::vector<MemoryReader::Piece> pieces;
    const uint64_t top = (frame + static_cast<uint64_t>(offsets_.frame_bytes)) / kPage * kPage;
    for (size_t i = 0; i < kPages; ++i)
      pieces.push_back({top - i * kPage, pages_.data() + (kPages - 1 - i) * kPage, kPage});
    const size_t got = memory_.read(pieces);
    copied_to = top + kPage;
    copied_from = copied_to - got * kPage;
  };
  const bool together = offsets_.code_bytes != PythonOffsets::kNone;
  if (together) copy_around(thread.frame);
  std::string single(static_cast<size_t>(offsets_.frame_bytes), '\0');
  for (uint64_t frame = thread.frame; frame != 0;) {
    if (out.size() == kDeepest) return std::nullopt;
    const char* bytes = nullptr;
    if (frame >= copied_from && frame + single.size() <= copied_to) {
      bytes = pages_.data() + (kPages * kPage - (copied_to - frame));
    } else {
      if (!memory_.read(frame, single.data(), single.size())) return std::nullopt;
      bytes = single.data();
    }
    RawFrame& raw = out.emplace_back();
    raw.address = frame;
    raw.back = at<uint64_t>(bytes, offsets_.frame_back);
    raw.code = at<uint64_t>(bytes, offsets_.frame_code);
    raw.instruction = offsets_.instruction_bytes
                          ? uint64_t(at<int>(bytes, offsets_.frame_instruction))
                          : at<uint64_t>(bytes, offsets_.frame_instruction);
    if (offsets_.frame_owner != PythonOffsets::kNone) raw.owner = bytes[offsets_.frame_owner];
    frame = raw.back;
  }
  return out;
}

// A thread's outermost frame stays where it is while everything above it changes: a stack that ends
// elsewhere led through a frame that had just gone. Twice in a row it is a new beginning.
bool PythonStacks::ends_where_it_should(uint64_t thread, const std::vector<RawFrame>& frames) {
  if (bases_.size() > 4 * kMostThreads) bases_.clear();
  const uint64_t base = frames.empty() ? 0 : frames.back().address;
  uint64_t& known = bases_.try_emplace(thread, ~base).first->second;
  return std::exchange(known, base) == base;
}

bool PythonStacks::resolve(const std::vector<RawFrame>& raw, PythonThread& out) {
  const auto size = static_cast<size_t>(offsets_.code_size);
  std::vector<char> headers(raw.size() * size);
  std::vector<MemoryReader::Piece> pieces;
  for (size_t i = 0; i < raw.size(); ++i)
    pieces.push_back({raw[i].code, headers.data() + i * size, size});
  if (memory_.read(pieces) != pieces.size()) return false;
  out.frames.clear();
  out.fingerprint = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < raw.size(); ++i) {
    const char* header = headers.data() + i * size;
    if (raw[i].owner == kOwnedByC && offsets_.gil != PythonOffsets::kNone) continue;
    if (!is_code_type(at<uint64_t>(header, 8))) return false;
    const auto code = code_at(raw[i].code, header);
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

std::shared_ptr<const PythonCode> PythonStacks::code_at(uint64_t address, const char* header) {
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
