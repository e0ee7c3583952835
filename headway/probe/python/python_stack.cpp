#include "headway/probe/python/python_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/probe/process/proc_files.h"
#include "headway/probe/python/line_table.h"

namespace headway {
namespace {

constexpr int kTries = 12;
constexpr size_t kDeepest = 1024;      // frames; a deeper stack is dropped and called torn
constexpr size_t kMostThreads = 512;   // whose stacks are read in one look
constexpr size_t kMostListed = 10000;  // that are listed at all
constexpr int kMostInterpreters = 16;
constexpr size_t kMostThreadBytes = 64 << 20;  // remembered of all threads together
constexpr int kOwnedByGenerator = 1;
constexpr int kOwnedByC = 3;  // or above: a frame that only marks where C called Python (3.12+)
constexpr double kPauseS = 100e-6;

PythonOffsets known_offsets(const MemoryReader& memory, const PythonRuntime& runtime) {
  std::optional<PythonOffsets> offsets = offsets_of(runtime.version);
  if (runtime.version == PythonVersion{3, 14}) {
    uint64_t description[kDescribed];
    if (memory.read(runtime.address, description, sizeof description))
      offsets = described_offsets(description);
  }
  if (offsets) return *offsets;
  throw Error(fmt::format("the process runs Python {}.{}, whose stacks Headway cannot read",
                          runtime.version.major, runtime.version.minor),
              "run it with CPython 3.8 to 3.14, and not with a free-threaded build");
}

// How many frames, from the outermost on, are equal in both.
template <typename Stack>
size_t equal_outer_frames(const Stack& a, const Stack& b) {
  const auto differ = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first;
  return static_cast<size_t>(differ - a.rbegin());
}

// The same frames, except that the innermost may be at another instruction, or have returned from
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
    : PythonStacks(MemoryReader(pid), number_inside(pid, pid), runtime) {}

PythonStacks::PythonStacks(MemoryReader memory, pid_t main_tid, const PythonRuntime& runtime)
    : memory_(memory),
      main_tid_(main_tid),
      runtime_(runtime),
      offsets_(known_offsets(memory_, runtime)),
      objects_(memory_, offsets_) {}

PythonThreads PythonStacks::read(double patience_s) {
  objects_.begin_look();
  uint64_t holder = 0;
  std::vector<RawThread> threads = list_threads(holder);
  const auto main = std::find_if(threads.begin(), threads.end(),
                                 [&](const RawThread& t) { return t.tid == main_tid_; });
  if (main != threads.end()) std::rotate(threads.begin(), main, main + 1);
  size_t kept = thread_bytes();
  if (threads_.size() > 4 * kMostThreads || kept > kMostThreadBytes / 2)
    threads_.clear(), kept = 0;  // most of them are gone
  PythonThreads out{.all = threads.size()};
  for (size_t i = 0; i < std::min(threads.size(), kMostThreads); ++i) {
    const RawThread& thread =
        i == 0 ? threads[0] : threads[1 + next_thread_ % (threads.size() - 1)];
    PythonThread seen;
    seen.tid = thread.tid;
    seen.holds_gil = thread.address == holder;
    kept -= threads_[thread.address].kept_bytes();
    read_stack(thread, patience_s, seen);
    kept += threads_[thread.address].kept_bytes();
    if (kept > kMostThreadBytes) threads_.erase(thread.address);  // unusually deep stacks
    if (i > 0 && memory_.stopped()) break;                        // it comes first next time
    if (i > 0) ++next_thread_;
    out.read.push_back(std::move(seen));
  }
  return out;
}

size_t PythonStacks::thread_bytes() const {
  size_t sum = 0;
  for (const auto& [address, thread] : threads_) sum += thread.kept_bytes();
  return sum;
}

size_t PythonStacks::kept_bytes() const { return thread_bytes() + objects_.kept_bytes(); }

void PythonStacks::read_stack(const RawThread& thread, double patience_s, PythonThread& out) {
  Remembered& known = threads_[thread.address];
  const int64_t until = now_ns() + static_cast<int64_t>(1e9 * patience_s);
  std::optional<Walk> before;
  RawStack still;  // the longest outer part in which two copies agreed
  for (int tries = 0; (tries < kTries || now_ns() < until) && !memory_.stopped(); ++tries) {
    if (tries >= kTries && tries % 2 == 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(kPauseS));
    std::optional<Walk> walked = walk(thread.address);
    if (!walked) {
      before.reset();
      continue;
    }
    RawStack& now = walked->frames;
    const bool as_last_time = !walked->moved && !known.last.empty() && now == known.last;
    if (!before && !as_last_time) {
      before = std::move(walked);
      continue;
    }
    const bool whole = !walked->moved && !(before && before->moved);
    const bool same = as_last_time || (whole && before->frames == now);
    bool new_code = false;
    if ((same || (whole && only_innermost_moved(before->frames, now))) &&
        is_base(thread.address, now, same) && resolve(now, out, new_code)) {
      // Code that is new to us may have been freed before it was read.
      const auto after = new_code ? walk(thread.address) : std::nullopt;
      if (!new_code || (after && equal_outer_frames(now, after->frames) == now.size())) {
        known.last = std::move(now);
        known.base = known.last.empty() ? 0 : known.last.back().address;
        out.torn = false;
        return;
      }
    } else if (before && !now.empty() && now.back().address == known.base) {
      const size_t equal = equal_outer_frames(before->frames, now);
      if (equal > still.size()) still.assign(now.end() - static_cast<long>(equal), now.end());
    }
    before = std::move(walked);
  }
  out.torn = true;
  bool new_code = false;
  if (!resolve(still, out, new_code)) out.frames.clear();
}

uint64_t PythonStacks::interpreter() const {
  return memory_.get(runtime_.address, offsets_.interpreters_head).value_or(0);
}

std::vector<PythonStacks::RawThread> PythonStacks::list_threads(uint64_t& holder) const {
  std::vector<RawThread> out;
  auto interpreter = memory_.get(runtime_.address, offsets_.interpreters_head);
  for (int i = 0; interpreter && *interpreter && i < kMostInterpreters; ++i) {
    list_threads_of(*interpreter, out);
    const auto gil = memory_.get(*interpreter, offsets_.gil);
    if (gil && holder == 0 && memory_.get(*gil, offsets_.gil_locked).value_or(0) == 1)
      holder = memory_.get(*gil, offsets_.gil_last_holder).value_or(0);
    interpreter = memory_.get(*interpreter, offsets_.interpreter_next);
  }
  if (offsets_.current_thread)
    holder = memory_.get(runtime_.address, offsets_.current_thread).value_or(0);
  return out;
}

void PythonStacks::list_threads_of(uint64_t interpreter, std::vector<RawThread>& out) const {
  uint64_t address = memory_.get(interpreter, offsets_.threads_head).value_or(0);
  uint64_t mark = 0;  // detects a list that goes in circles
  for (size_t steps = 1; address != 0 && address != mark && out.size() < kMostListed; ++steps) {
    const auto thread = thread_at(address);
    if (!thread) return;
    out.push_back(*thread);
    if (std::has_single_bit(steps)) mark = address;
    address = thread->next;
  }
}

std::optional<PythonStacks::RawThread> PythonStacks::thread_at(uint64_t address) const {
  char copy[PythonOffsets::kLargestThread];
  if (!memory_.read(address, copy, offsets_.thread_bytes)) return std::nullopt;
  const TargetBytes bytes(copy, offsets_.thread_bytes);
  const auto next = bytes.get(offsets_.thread_next);
  if (!next) return std::nullopt;
  RawThread out{.address = address, .next = *next};
  if (offsets_.native_id) {
    out.tid = static_cast<pid_t>(bytes.get(offsets_.native_id).value_or(0));
  } else if (const auto pthread = bytes.get(offsets_.thread_id)) {
    // Older versions keep only pthread_t; glibc's structure has the tid at a fixed place.
    constexpr TargetField<int> kTidInPthread = 720;
    out.tid = memory_.get(*pthread, kTidInPthread).value_or(0);
  }
  return out;
}

// All frames from one copy of their pages. A frame on another page is read separately, at another
// moment: then the walk counts as moved, and that page is in the next copy.
std::optional<PythonStacks::Walk> PythonStacks::walk(uint64_t thread) {
  Remembered& known = threads_[thread];
  uint64_t frame = 0, first = 0, frame_after = 0, first_after = 0;
  const bool indirect(offsets_.cframe_frame);
  const uint64_t top = offsets_.frame.in(thread);
  const uint64_t below = offsets_.cframe_frame.in(known.cframe);
  const size_t words = indirect && known.cframe != 0 ? 2 : 1;
  const MemoryReader::Piece before[] = {{top, &first, 8}, {below, &frame, 8}};
  const MemoryReader::Piece after[] = {{top, &first_after, 8}, {below, &frame_after, 8}};
  const bool copied = known.pages.copy(memory_, std::span(before, words), std::span(after, words));
  Walk out{.moved = !copied || first != first_after || frame != frame_after};
  if (indirect && (!copied || first != known.cframe)) {
    // C called Python, or returned from it: its frames are in the same pages, all but the last.
    known.cframe = memory_.value<uint64_t>(top).value_or(0);
    frame = known.cframe ? memory_.get(known.cframe, offsets_.cframe_frame).value_or(0) : 0;
    out.moved = true;
  } else if (!copied) {
    return std::nullopt;
  } else if (!indirect) {
    frame = first;
  }
  auto frames = frames_from(frame, known.pages, out.moved);
  if (!frames) return std::nullopt;
  out.frames = std::move(*frames);
  return out;
}

std::optional<PythonStacks::RawStack> PythonStacks::frames_from(uint64_t frame, FramePages& pages,
                                                                bool& moved) const {
  RawStack out;
  char bytes[PythonOffsets::kLargestFrame];
  const size_t size = offsets_.frame_bytes;
  while (frame != 0) {
    if (out.size() == kDeepest) return std::nullopt;
    if (!pages.get(frame, bytes, size)) {
      moved = true;
      if (!memory_.read(frame, bytes, size)) return std::nullopt;
    }
    const auto raw = frame_in(TargetBytes(bytes, size), frame);
    if (!raw) return std::nullopt;
    out.push_back(*raw);
    frame = raw->back;
  }
  return out;
}

std::optional<PythonStacks::RawFrame> PythonStacks::frame_in(TargetBytes bytes,
                                                             uint64_t address) const {
  const auto back = bytes.get(offsets_.frame_back), code = bytes.get(offsets_.frame_code);
  std::optional<uint64_t> instruction = bytes.get(offsets_.frame_code_at);
  if (const auto counted = bytes.get(offsets_.frame_instruction))
    instruction = static_cast<uint64_t>(*counted);
  if (!back || !code || !instruction) return std::nullopt;
  return RawFrame{.address = address,
                  .back = *back,
                  .code = *code & ~offsets_.tag_bits,
                  .instruction = *instruction,
                  .owner = bytes.get(offsets_.frame_owner).value_or(0)};
}

// A thread's outermost frame stays at its address while everything above it changes: a stack that
// ends elsewhere went through a frame that was just removed, unless the whole stack stands still. A
// generator is never outermost.
bool PythonStacks::is_base(uint64_t thread, const RawStack& stack, bool stands_still) {
  if (stack.empty()) return stands_still;
  if (offsets_.frame_owner && stack.back().owner == kOwnedByGenerator) return false;
  return stands_still || threads_[thread].base == stack.back().address;
}

// Does it only mark where C called Python?
bool PythonStacks::is_mark(const RawFrame& frame) const {
  return offsets_.gil && frame.owner >= kOwnedByC;
}

bool PythonStacks::resolve(const RawStack& raw, PythonThread& out, bool& new_code) {
  const size_t size = offsets_.code_size;
  std::vector<char> headers(raw.size() * size);
  std::vector<MemoryReader::Piece> pieces;
  for (size_t i = 0; i < raw.size(); ++i)
    pieces.push_back({raw[i].code, headers.data() + i * size, size});
  // A marking frame may have no code: then its header stays empty.
  size_t done = 0;
  while (done < pieces.size()) {
    done += memory_.read(std::span(pieces).subspan(done));
    if (done < pieces.size() && !is_mark(raw[done])) return false;
    if (done < pieces.size()) ++done;
  }
  out.frames.clear();
  out.fingerprint = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (is_mark(raw[i])) continue;
    const auto code =
        objects_.code_at(raw[i].code, TargetBytes(headers.data() + i * size, size), new_code);
    if (!code) return false;
    PythonFrame& frame = out.frames.emplace_back();
    frame.code = code;
    frame.address = raw[i].address;
    const auto offset =
        offsets_.frame_code_at
            ? static_cast<int64_t>(raw[i].instruction - offsets_.code_bytes.in(raw[i].code))
            : static_cast<int>(raw[i].instruction) * int64_t{offsets_.instruction_bytes};
    frame.instruction = static_cast<uint64_t>(offset);
    frame.line = line_of(offsets_.lines, code->lines, code->first_line, offset);
    out.fingerprint = mix(mix(out.fingerprint, raw[i].code), frame.instruction);
  }
  return true;
}

}  // namespace headway
