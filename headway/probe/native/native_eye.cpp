#include "headway/probe/native/native_eye.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "headway/core/clock.h"
#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

constexpr size_t kThreadsAtOnce = 6;  // threads checked for takers per look
constexpr size_t kMostTakers = 16;
constexpr size_t kMostFunctions = 20'000, kMostCounted = 5'000, kMostTold = 24;
constexpr double kSamplesPerSecond = 100;       // of all cores
constexpr int64_t kNamesAtOnceNs = 25'000'000;  // symbol tables are read in pieces

bool is_neutral(NativeKind kind) {  // does not say what the work is for
  return kind == NativeKind::kOther || kind == NativeKind::kAllocates ||
         kind == NativeKind::kCopies || kind == NativeKind::kGenerated;
}

}  // namespace

void NativeEye::watch(pid_t main) {
  if (main != main_ || !stacks_) {
    const auto user = file_user_of(main);
    if (!user) return;
    const bool another = main != main_;
    stacks_ = std::make_unique<NativeStacks>(main, *user, images_);
    main_ = main;
    takers_.clear(), takers_since_s_ = -1;
    counts_.clear(), others_recent_.clear(), main_last_.reset();
    samples_ = whole_ = input_samples_ = decode_samples_ = 0;
    main_samples_ = main_waits_ = main_uploads_ = 0;
    if (another) sample_main();
  }
}

void NativeEye::sample_main() {
  if (!tried_) {
    tried_ = true;
    const double cores = std::max(1.0, double(::sysconf(_SC_NPROCESSORS_ONLN)));
    sampler_ = CpuSampler::open(std::clamp(kSamplesPerSecond / cores, 4.0, 29.0), why_not_);
  }
  if (!sampler_) return;
  const bool followed = sampler_->follow(main_);
  why_not_ = followed ? ""
                      : "it has more threads than anybody but root may sample; to allow it: "
                        "ulimit -n unlimited, before headway is started";
}

const NativeEye::Function& NativeEye::function_at(const NativeFrame& frame) {
  static const Function kNoFile{NativeKind::kOther, ""}, kGenerated{NativeKind::kGenerated, ""};
  if (!frame.image) return frame.generated ? kGenerated : kNoFile;
  const FrameRule* rule = frame.image->frames ? frame.image->frames->at(frame.address) : nullptr;
  const Place place{frame.image, rule ? rule->function : frame.address};
  const auto known = functions_.find(place);
  if (known != functions_.end()) return known->second;
  if (!frame.image->names.ready()) return kNoFile;  // try again later
  Function out;
  out.name = frame.image->names.at(frame.address);
  out.kind = table_.kind_of(frame.image->library, out.name);
  out.name = readable_name(out.name);
  return functions_.emplace(place, std::move(out)).first->second;
}

NativeEye::Kinds NativeEye::kinds_of(const std::vector<NativeFrame>& frames) {
  Kinds out;
  if (functions_.size() >= kMostFunctions) functions_.clear();  // not later: `out` refers to them
  for (const NativeFrame& frame : frames) {
    const Function& function = function_at(frame);
    if (function.kind != NativeKind::kOther) out.all |= 1u << static_cast<int>(function.kind);
    if (&frame == &frames.front() || (is_neutral(out.innermost) && !is_neutral(function.kind))) {
      out.innermost = function.kind, out.function = &function;
      out.library = frame.image ? frame.image->library : "";
    }
  }
  return out;
}

void NativeEye::prepare(int64_t stop_ns) {
  images_.prepare(std::min(stop_ns, now_ns() + kNamesAtOnceNs));
}

void NativeEye::forget() {
  functions_.clear();
  stacks_.reset();
  images_ = NativeImages();
}

void NativeEye::add_taker(pid_t tid, double now_s) {
  if (takers_.size() >= kMostTakers) return;
  takers_.insert(tid);
  if (takers_since_s_ < 0) takers_since_s_ = now_s;
}

// Python's threads take elements for any purpose, TensorFlow's own threads for a step.
bool NativeEye::takes_elements(const Kinds& kinds) {
  return kinds.has(NativeKind::kTakesElement) && !kinds.has(NativeKind::kInterprets);
}

void NativeEye::look_for_takers(const std::vector<ThreadCounters::Thread>& threads, double now_s,
                                int64_t stop_ns) {
  if (!stacks_ || threads.empty()) return;
  std::erase_if(takers_, [&](pid_t tid) {
    return std::none_of(threads.begin(), threads.end(),
                        [&](const ThreadCounters::Thread& thread) { return thread.tid == tid; });
  });
  MemoryReader memory(main_);
  memory.stop_at(stop_ns);
  for (size_t i = 0; i < std::min(kThreadsAtOnce, threads.size()) && now_ns() < stop_ns; ++i) {
    const pid_t tid = threads[next_thread_++ % threads.size()].tid;
    if (tid == main_ || takers_.count(tid)) continue;
    if (takes_elements(kinds_of(stacks_->waiting(tid, memory)))) add_taker(tid, now_s);
  }
}

Account NativeEye::account_of(Account by_python, int64_t stop_ns) {
  const NativeKind native = now();
  if (by_python != Account::kComputes) return by_python;
  if (native == NativeKind::kCompiles) return Account::kCompiles;
  if (native == NativeKind::kCollectsGarbage) return Account::kCollectsGarbage;
  return wants_element(stop_ns).value_or(false) ? Account::kWaitsForData : by_python;
}

std::optional<bool> NativeEye::wants_element(int64_t stop_ns) {
  if (!stacks_ || takers_.empty()) return std::nullopt;
  MemoryReader memory(main_);
  memory.stop_at(stop_ns);
  for (const pid_t tid : takers_) {
    bool runs = false;
    const auto frames = stacks_->waiting(tid, memory, &runs);
    if (runs || kinds_of(frames).has(NativeKind::kTakesElement)) return true;
  }
  return false;
}

void NativeEye::take(const CpuSample& sample, bool training, double now_s) {
  if (!stacks_ || !sample.registers[kReturnAddress]) return;
  bool whole = false;
  const Kinds kinds = kinds_of(stacks_->walk(sample.registers, sample.stack, &whole));
  const bool main_thread = sample.tid == main_;
  if (!main_thread && takes_elements(kinds)) add_taker(sample.tid, now_s);
  NativeKind about = kinds.innermost;
  // Functions inside the driver have no names; the function that was called tells what it does.
  for (const NativeKind outer : {NativeKind::kUploads, NativeKind::kWaitsForDevice,
                                 NativeKind::kCompiles, NativeKind::kCollectsGarbage})
    if (kinds.has(outer)) about = outer;
  if (main_thread) main_last_ = about;
  else ++others_recent_[about];
  if (!training) return;
  const bool decodes = kinds.has(NativeKind::kDecodes) || kinds.has(NativeKind::kImage);
  const bool input = !main_thread && (decodes || kinds.has(NativeKind::kInput) ||
                                      kinds.has(NativeKind::kTakesElement));
  ++samples_, whole_ += whole || input;
  input_samples_ += input, decode_samples_ += input && decodes;
  main_samples_ += main_thread;
  main_waits_ += main_thread && about == NativeKind::kWaitsForDevice;
  main_uploads_ += main_thread && about == NativeKind::kUploads;
  const Counted key{.main_thread = main_thread,
                    .input = input,
                    .kind = about,
                    .library = kinds.library,
                    .function = kinds.function ? kinds.function->name : ""};
  if (const auto known = counts_.find(key); known != counts_.end()) ++known->second;
  else if (counts_.size() < kMostCounted) counts_.emplace(key, 1);
}

void NativeEye::read_samples(bool training, double now_s, int64_t stop_ns) {
  if (!sampler_) return;
  sampler_->read(main_, [&](const CpuSample& sample) {
    if (now_ns() < stop_ns) take(sample, training, now_s);
  });
}

NativeKind NativeEye::now() {
  int64_t all = 0, most = 0;
  NativeKind out = NativeKind::kOther;
  for (const auto& [kind, samples] : others_recent_) {
    all += samples;
    if (samples > most) most = samples, out = kind;
  }
  if (most < 2 || 2 * most <= all) out = NativeKind::kOther;
  others_recent_.clear();
  return std::exchange(main_last_, std::nullopt).value_or(out);
}

void NativeEye::put_into(Outside& out) const {
  SeenNative& native = out.native;
  native.why_not = why_not_;
  native.takers_since_s = takers_since_s_;
  native.samples = samples_, native.whole = whole_;
  native.lost = sampler_ ? sampler_->lost() : 0;
  native.input_samples = input_samples_, native.decode_samples = decode_samples_;
  native.main_samples = main_samples_;
  native.main_waits = main_waits_, native.main_uploads = main_uploads_;
  using Counts = decltype(counts_)::value_type;
  std::vector<const Counts*> most;
  for (const Counts& each : counts_) most.push_back(&each);
  const auto told = most.begin() + static_cast<long>(std::min(kMostTold, most.size()));
  std::partial_sort(most.begin(), told, most.end(),
                    [](const Counts* a, const Counts* b) { return a->second > b->second; });
  for (auto each = most.begin(); each != told; ++each) {
    const auto& [counted, samples] = **each;
    native.functions.push_back({counted.library, counted.function, counted.kind,
                                counted.main_thread, counted.input, samples});
  }
}

}  // namespace headway
