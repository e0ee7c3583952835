#include "headway/probe/stack_counts.h"

#include <algorithm>

#include "headway/probe/activity.h"
#include "headway/probe/source/slow_calls.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kMost = 800;
constexpr double kWindowS = 8;
constexpr size_t kMostPlaces = 32;
constexpr size_t kFramesAtAnEnd = 64;  // kept at each end of a deeper stack

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash;
}

// No Python code asked for the lock: a called library waits for its own threads, or Python itself
// waits for its turn.
bool waits_inside_a_call(const SeenStack& stack) {
  const SeenFrame& innermost = stack.frames[0];
  if (stack.activity != Activity::kUser && stack.activity != Activity::kFit) return false;
  return innermost.users ? !may_take_a_lock(innermost.text)
                         : !innermost.file.ends_with("threading.py");
}

}  // namespace

std::vector<SeenFrame> seen_frames(const PythonThread& thread, SourceLines& sources) {
  std::vector<SeenFrame> out;
  const size_t depth = thread.frames.size();
  for (size_t i = 0; i < depth; ++i) {
    if (i == kFramesAtAnEnd && depth > 2 * kFramesAtAnEnd) i = depth - kFramesAtAnEnd;
    const PythonFrame& frame = thread.frames[i];
    if (is_fork(frame.code->file, frame.code->function)) break;
    SeenFrame& seen = out.emplace_back();
    seen.file = redact_path(frame.code->file), seen.function = frame.code->function,
    seen.line = frame.line;
    seen.users = frame.code->users;
    if (!seen.users) continue;
    seen.text = sources.text(frame.code->file, seen.line);
    const SourceLines::Loops loops = sources.loops_around(frame.code->file, seen.line);
    seen.loops = loops.count, seen.in_while = loops.endless;
    seen.asks_for_lock = loops.asks_for_lock;
    seen.takes_lock =
        seen.text.starts_with("with ") || seen.text.find("acquire(") != std::string::npos;
    seen.array_call = calls_for_data(seen.text);
    seen.slow_call = slow_call_in(seen.text, seen.loops);
    seen.one_element = touches_one_element(seen.text);
    seen.validates = sources.validates(frame.code->file, seen.line);
    seen.feeds = sources.lines_fed(frame.code->file, seen.line);
  }
  return out;
}

const SeenStack& StackCounts::add(const PythonThread& thread, const Sample& sample,
                                  SourceLines& sources, double now_s) {
  window_ = static_cast<int64_t>(now_s / kWindowS);
  uint64_t key = mix(static_cast<uint64_t>(sample.wait), static_cast<uint64_t>(sample.process));
  key = mix(key, uint64_t(sample.has_device) << 2 | uint64_t(sample.main_thread) << 1 |
                     uint64_t(sample.training));
  for (size_t i = 0; i < thread.frames.size(); ++i) {
    const PythonFrame& frame = thread.frames[i];
    key = mix(key, frame.code->id);
    if (i == 0 || frame.code->users) key = mix(key, uint64_t(frame.line));
  }
  if (entries_.size() >= kMost && !entries_.count(key)) forget_the_rarest();
  Entry& entry = entries_[key];
  SeenStack& stack = entry.stack;
  if (stack.samples == 0) {
    stack.process = sample.process;
    stack.main_thread = sample.main_thread;
    stack.wait = sample.wait;
    stack.training = sample.training;
    stack.frames = seen_frames(thread, sources);
    const StackMeaning meaning = meaning_of(stack.frames, sample.process, sample.main_thread);
    stack.activity = meaning.activity, stack.maker = meaning.maker;
    if (stack.activity == Activity::kUpload && !sample.has_device) stack.activity = Activity::kUser;
    if (stack.activity == Activity::kUser && sample.has_device && gives_orders(stack.frames))
      stack.activity = Activity::kStep;
    if (stack.activity == Activity::kUser && thread.frames[0].code->users &&
        sources.calls_compiled(thread.frames[0].code->file, thread.frames[0].line))
      stack.activity = Activity::kStep;
    if (stack.wait == Wait::kSleep && asks_for_lock_file(stack.frames))
      stack.wait = Wait::kFileLock;
    if (stack.wait == Wait::kLock && drops_a_pipeline(stack.frames))
      stack.activity = Activity::kFetch;
    const bool computes = stack.wait == Wait::kLock && waits_inside_a_call(stack);
    stack.account =
        account_of(stack.activity, computes ? Wait::kNothing : stack.wait, stack.training);
  }
  ++stack.samples;
  stack.with_gil += thread.holds_gil;
  const uint64_t place = thread.frames[0].instruction;
  if (entry.places.count(place) || entry.places.size() < kMostPlaces) {
    stack.top_place = std::max(stack.top_place, ++entry.places[place]);
    stack.places = static_cast<int64_t>(entry.places.size());
  }
  if (entry.window != window_) {
    entry.before = entry.window + 1 == window_ ? entry.now : 0;
    entry.now = 0;
    entry.window = window_;
  }
  ++entry.now;
  return stack;
}

std::vector<SeenStack> StackCounts::most(size_t limit) const {
  std::vector<SeenStack> out;
  for (const auto& [key, entry] : entries_) {
    SeenStack& stack = out.emplace_back(entry.stack);
    if (entry.window == window_) stack.recent = entry.now + entry.before;
    if (entry.window + 1 == window_) stack.recent = entry.now;
  }
  std::sort(out.begin(), out.end(), [](const SeenStack& a, const SeenStack& b) {
    return a.samples + a.recent > b.samples + b.recent;
  });
  if (out.size() > limit) out.resize(limit);
  return out;
}

void StackCounts::forget_the_rarest() {
  std::vector<int64_t> counts;
  for (const auto& [key, entry] : entries_) counts.push_back(entry.stack.samples);
  auto quarter = counts.begin() + static_cast<long>(counts.size() / 4);
  std::nth_element(counts.begin(), quarter, counts.end());
  const int64_t limit = *quarter;
  std::erase_if(entries_, [&](const auto& each) {
    return each.second.stack.samples <= limit && each.second.window + 1 < window_;
  });
  if (entries_.size() >= kMost)
    std::erase_if(entries_, [&](const auto& each) { return each.second.stack.samples <= limit; });
}

}  // namespace headway
