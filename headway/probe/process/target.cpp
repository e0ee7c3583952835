#include "headway/probe/process/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/probe/process/waits_for.h"

namespace headway {
namespace {

constexpr size_t kMostMakers = 4096;
constexpr double kLookAgainS = 0.25, kLookSeldomS = 3;
constexpr size_t kMostValues = 60;             // of one stack
constexpr double kStillS = 2, kAskEveryS = 2;  // looking up what a thread waits for
constexpr double kMuchOfTheTime = 0.3;         // a thread that wants a core
constexpr double kLate = 0.6;                  // share of the last rate that stays in "recently"

TaskState state_of(char letter) {
  switch (letter) {
    case 'R': return TaskState::kRunning;
    case 'D': return TaskState::kDisk;
    case 'T':
    case 't': return TaskState::kStopped;
    case 'Z':
    case 'X': return TaskState::kZombie;
    default: return TaskState::kSleeping;
  }
}

// Loops of frameworks, which count their steps in their own variables.
bool is_trainer(const PythonCode& code) {
  if (code.function.ends_with(".fit")) return true;
  if (code.function.ends_with("_inner_training_loop"))
    return code.file.ends_with("transformers/trainer.py");
  return code.function.ends_with("advance") && code.file.ends_with("training_epoch_loop.py");
}

// "tf_data_private_12" -> "tf_data_private_"
// TensorFlow names its own; those of tf.data have the program's name.
bool runs_operators(const std::string& thread) {
  return thread.starts_with("tf_") && !thread.starts_with("tf_data");
}

std::string without_digits(const std::string& name) {
  return name.substr(0, std::min(name.size(), name.find_last_not_of("0123456789") + 1));
}

double value_behind(const std::string& text, const char* key) {
  const size_t at = text.find(key);
  return at == std::string::npos
             ? 0
             : std::strtod(text.c_str() + at + std::string(key).size(), nullptr);
}

}  // namespace

Target::Target(pid_t pid)
    : sources(pid),
      pid_(pid),
      inside_(number_inside(pid, pid)),
      started_ticks_(stat_of(pid).started_ticks),
      user_(file_user_of(pid)),
      stop_ns_(std::numeric_limits<int64_t>::max()),
      counters_(pid) {
  seen.pid = pid;
}

bool Target::is_main_thread(pid_t tid) const { return tid == inside_; }

pid_t Target::outside_number(pid_t inside) const {
  if (inside_ == pid_) return inside;
  const auto found = outside_.find(inside);
  return found == outside_.end() ? 0 : found->second;
}

void Target::look_for_python(double now_s) {
  const std::string program = link_target(fmt::format("/proc/{}/exe", pid_));
  const auto user = file_user_of(pid_);
  if (program != program_ || user != user_) {  // it runs another program, or as another user
    program_ = program, user_ = user;
    forget();
  }
  if (now_ns() >= stop_ns_) return;
  if (stacks_ || now_s - looked_s_ < (now_s < 10 ? kLookAgainS : kLookSeldomS)) return;
  looked_s_ = now_s;
  const auto runtime = find_python(pid_, &problem);
  if (!runtime) return;
  try {
    stacks_ = std::make_unique<PythonStacks>(pid_, *runtime);
    stacks_->stop_at(stop_ns_);
    values_ = std::make_unique<PythonValues>(*stacks_);
    prints_ = std::make_unique<PythonPrints>(*stacks_);
    model_ = std::make_unique<LiveModel>(*stacks_);
    clash_ = std::make_unique<ShapeClash>(*stacks_);
    seen.python = fmt::format("{}.{}", runtime->version.major, runtime->version.minor);
    problem.clear();
  } catch (const Error& e) {
    problem = e.problem();
  }
}

void Target::stop_at(int64_t ns) {
  stop_ns_ = ns;
  if (stacks_) stacks_->stop_at(ns);
}

void Target::forget() {
  clash_.reset(), model_.reset(), prints_.reset(), values_.reset(), stacks_.reset();
  sources = SourceLines(pid_);
  main_stack = {};
  looked_s_ = -1e9;
}

size_t Target::kept_bytes() const {
  return sources.kept_bytes() + (stacks_ ? stacks_->kept_bytes() : 0);
}

PythonThreads Target::read_stacks(double now_s) {
  if (!stacks_) look_for_python(now_s);
  if (!stacks_) return {};
  PythonThreads out = stacks_->read();
  uint64_t all = 0;
  for (const PythonThread& thread : out.read) {
    if (thread.torn) {
      ++all;
      continue;
    }
    all ^= thread.fingerprint;
    if (!is_main_thread(thread.tid)) {
      if (makes_data_.size() < kMostMakers) makes_data_.insert(outside_number(thread.tid));
      continue;
    }
    if (thread.fingerprint != main_stack.fingerprint) changed_s = now_s;
    main_stack = thread;
  }
  if (all != all_fingerprint_) any_changed_s = now_s;
  all_fingerprint_ = all;
  return out;
}

MemoryReader Target::memory() const { return stacks_ ? stacks_->memory() : MemoryReader(pid_); }

std::optional<SystemCall> Target::call_of(pid_t outside) const {
  return parse_system_call(file_text(fmt::format("/proc/{}/task/{}/syscall", pid_, outside), 256));
}

Wait Target::wait_of(pid_t tid) const {
  const auto call = call_of(outside_number(tid));
  if (!call) return Wait::kNothing;
  std::vector<std::string> files;
  for (const int fd : descriptors_of(pid_, *call, memory()))
    files.push_back(link_target(fmt::format("/proc/{}/fd/{}", pid_, fd)));
  return wait_kind(call, files);
}

void Target::look_whom(double now_s, const std::map<pid_t, std::string>& tree) {
  const bool still = !stacks_ || now_s - changed_s >= kStillS;
  if (!still) seen.waits_for.clear();
  if (!still || now_s - asked_s_ < kAskEveryS) return;
  asked_s_ = now_s;
  const auto call = call_of(pid_);
  const std::vector<int> descriptors =
      call ? descriptors_of(pid_, *call, memory()) : std::vector<int>{};
  std::vector<std::string> files;
  for (const int fd : descriptors)
    files.push_back(link_target(fmt::format("/proc/{}/fd/{}", pid_, fd)));
  const Wait wait = wait_kind(call, files);
  if (!stacks_) seen.wait = wait;
  seen.waits_for = call ? waits_for({pid_, *call, wait, descriptors, &tree}) : "";
}

bool Target::read_counters(double now_s) {
  look_for_python(now_s);
  const TaskStat stat = stat_of(pid_);
  if (stat.state == '?' || !is(stat)) return false;
  seen.name = stat.name;
  seen.state = state_of(stat.state);
  seen.threads = stat.threads, seen.rss_bytes = stat.rss_bytes;
  if (!stat.alive()) return false;
  read_bytes = value_behind(file_text(fmt::format("/proc/{}/io", pid_), 1024), "rchar:");
  threads = counters_.read();
  const double passed = counted_s_ >= 0 ? now_s - counted_s_ : 0;
  counted_s_ = now_s;
  std::map<pid_t, ThreadCounters::Thread> now;
  double grown = 0;
  model_threads = 0;
  for (const auto& thread : threads) {
    model_threads += runs_operators(thread.name);
    const auto before = before_.find(thread.tid);
    if (passed > 0) {  // a new thread began after the last reading
      const ThreadCounters::Thread was =
          before != before_.end() ? before->second : ThreadCounters::Thread{};
      const double used = std::max(0.0, thread.cpu_s - was.cpu_s);
      const double waited = std::max(0.0, thread.ready_s - was.ready_s);
      grown += used;
      cpu_s += used, ready_s += waited;
      if (thread.tid == pid_) main_cpu_s += used, main_ready_s += waited;
      if (thread.tid != pid_ && !makes_data_.count(thread.tid)) model_s += used + waited;
      double& cores = thread_cores[thread.tid];
      cores = kLate * cores + (1 - kLate) * used / passed;
      double& wanted = thread_wants_[thread.tid];
      wanted = kLate * wanted + (1 - kLate) * (used + waited) / passed;
    }
    now[thread.tid] = thread;
    if (inside_ != pid_ && !before_.count(thread.tid))
      outside_[number_inside(pid_, thread.tid)] = thread.tid;
  }
  const auto is_gone = [&](const auto& each) { return !now.count(each.first); };
  std::erase_if(thread_cores, is_gone);
  std::erase_if(thread_wants_, is_gone);
  seen.wanting = std::count_if(thread_wants_.begin(), thread_wants_.end(),
                               [](const auto& each) { return each.second >= kMuchOfTheTime; });
  before_ = std::move(now);
  if (passed > 0) seen.cores = kLate * seen.cores + (1 - kLate) * grown / passed;
  seen.cpu_s = stat.cpu_s;
  seen.still_s = stacks_ ? now_s - any_changed_s : 0;
  return true;
}

std::vector<SeenValue> Target::read_values(const PythonThread& thread) {
  std::vector<SeenValue> out;
  if (!values_) return out;
  for (const PythonFrame& frame : thread.frames) {
    if (!frame.code->users && !is_trainer(*frame.code)) continue;
    for (SeenValue& value : values_->read(frame, frame.code->users))
      out.push_back(std::move(value));
    if (out.size() > kMostValues) break;
  }
  return out;
}

std::vector<SeenThreads> Target::threads_by_name() const {
  std::map<std::string, SeenThreads> groups;
  for (const auto& thread : threads) {
    const bool first = thread.tid == pid_;
    const std::string name = first ? "main thread" : without_digits(thread.name);
    SeenThreads& group = groups[name];
    const auto cores = thread_cores.find(thread.tid);
    const double used = cores == thread_cores.end() ? 0 : cores->second;
    group.name = name, group.main = first, group.model = runs_operators(thread.name);
    ++group.count;
    group.cpu_s += thread.cpu_s, group.cores += used;
    group.busiest = std::max(group.busiest, used);
  }
  std::vector<SeenThreads> out;
  for (auto& [name, group] : groups) out.push_back(std::move(group));
  return out;
}

}  // namespace headway
