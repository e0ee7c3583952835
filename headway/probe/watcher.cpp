#include "headway/probe/watcher.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "headway/core/clock.h"
#include "headway/core/limits.h"
#include "headway/probe/activity.h"
#include "headway/probe/permission.h"
#include "headway/probe/surroundings.h"
#include "headway/probe/target_file.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr double kStacksEveryS = 0.05, kCountersEveryS = 0.5, kAroundEveryS = 5;
constexpr int64_t kLongestLookNs = 500'000'000;
constexpr size_t kMostKept = 256 << 20;  // of what targets showed us
constexpr double kMostOfACore = 0.012;   // for reading stacks
constexpr size_t kWorkersPerLook = 2;    // stacks of workers are read in turn
constexpr double kLate = 0.6;
constexpr double kReadMoves = 100e3;  // bytes per second that count as moving
constexpr size_t kMostGone = 40, kMostSamples = 600, kMostStacks = 250, kMostMissing = 5;
constexpr size_t kMostValues = 60;

std::string ending_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

// What a process left for its parent: the last number of its line in /proc. 0: not known, or well.
int wait_status_of(pid_t pid) {
  const std::string whole = file_text(fmt::format("/proc/{}/stat", pid), 1024);
  const size_t code = whole.find_last_of(' ');
  return code == std::string::npos ? 0 : std::atoi(whole.c_str() + code + 1);
}

// "tf_data_private_12" -> "tf_data_private_"
std::string without_digits(const std::string& name) {
  return name.substr(0, std::min(name.size(), name.find_last_not_of("0123456789") + 1));
}

// "Cpus_allowed_list: 0-3,8"
double cpus_allowed(pid_t pid) {
  const std::string text =
      status_field(file_text(fmt::format("/proc/{}/status", pid)), "Cpus_allowed_list");
  const char* from = text.c_str();
  double count = 0;
  for (;;) {
    char* end = nullptr;
    const long first = std::strtol(from, &end, 10);
    if (end == from) break;
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    count += double(last - first + 1);
    if (*end != ',') break;
    from = end + 1;
  }
  return count;
}

}  // namespace

Watcher::Watcher(pid_t root, Options options)
    : root_(root),
      options_(options),
      began_ns_(now_ns()),
      root_started_ticks_(stat_of(root).started_ticks) {
  seen_.seen = true;
  seen_.pid = root;
  seen_.launched = options.launched;
  run_.eye = Eye::kOutside;
  read_limits_of(root);
  run_.machine_cores = sysconf(_SC_NPROCESSORS_ONLN);
  nvml_ = std::make_unique<Nvml>();
  const TaskStat stat = stat_of(root);
  if (!options.launched) seen_.unwatched = why_not_readable(root);
  if (!options.launched && stat.state != '?') {
    const double up = std::strtod(file_text("/proc/uptime", 64).c_str(), nullptr);
    seen_.since_start_s = std::max(0.0, up - stat.started_s);
  }
}

void Watcher::read_limits_of(pid_t pid) {
  const Limits limits = read_limits("", std::to_string(pid));
  run_.cpus = limits.cpus, run_.cpu_source = limits.cpu_source;
}

double Watcher::now_s() const { return 1e-9 * double(now_ns() - began_ns_ - left_out_ns_); }

// What we started ourselves cannot become another process before we ask how it ended.
bool Watcher::root_is_there() {
  if (options_.launched) return true;
  if (seen_.gone) return false;
  const TaskStat stat = stat_of(root_);
  const bool same = stat.started_ticks == root_started_ticks_;
  if (stat.alive() && same) return true;
  seen_.gone = true;
  seen_.at_s = now_s();
  const int status = stat.state == 'Z' && same ? wait_status_of(root_) : 0;
  if (status != 0 && seen_.unwatched.empty()) ended(status);
  return false;
}

bool Watcher::is_late() const { return now_ns() >= stop_ns_; }

bool Watcher::look() {
  if (!root_is_there()) return false;
  const double now = now_s();
  stop_ns_ = now_ns() + kLongestLookNs;
  for (auto& [pid, target] : targets_) target->stop_at(stop_ns_);
  if (now >= next_counters_s_) {
    next_counters_s_ = now + kCountersEveryS;
    find_processes();
    read_counters();
    read_variables();
    forget_if_much();
  }
  if (now >= next_around_s_) {
    next_around_s_ = now + kAroundEveryS;
    look_around_all();
  }
  if (now >= next_stacks_s_) {
    const int64_t before = thread_cpu_ns();
    read_stacks();
    const double cost = 1e-9 * double(thread_cpu_ns() - before);
    next_stacks_s_ = now + std::max(kStacksEveryS, cost / kMostOfACore);
  }
  return true;
}

void Watcher::forget_if_much() {
  size_t kept = 0;
  for (const auto& [pid, target] : targets_) kept += target->kept_bytes();
  if (kept > kMostKept)
    for (auto& [pid, target] : targets_) target->forget();
}

void Watcher::find_processes() {
  const std::vector<pid_t> tree = process_tree(root_);
  std::set<pid_t> still_zombies;
  for (const pid_t pid : tree) {
    const TaskStat stat = stat_of(pid);
    const auto known = targets_.find(pid);
    if (known != targets_.end() && stat.state != '?' && !known->second->is(stat)) {
      note_gone(*known->second, TaskState::kGone);  // another process got its number
      targets_.erase(known);
    }
    if (stat.alive() && !targets_.count(pid)) {
      Target& target = *(targets_[pid] = std::make_unique<Target>(pid));
      target.stop_at(stop_ns_);
      target.changed_s = target.any_changed_s = now_s();
    }
    if (pid == root_ || stat.alive()) continue;
    still_zombies.insert(pid);
    if (zombies_.count(pid)) continue;
    Target unseen(pid);
    unseen.seen.name = stat.name, unseen.seen.role = Role::kWorker;
    const auto ended = targets_.find(pid);
    note_gone(ended == targets_.end() ? unseen : *ended->second, TaskState::kZombie);
    targets_.erase(pid);
  }
  zombies_ = std::move(still_zombies);
  for (auto it = targets_.begin(); it != targets_.end();) {
    if (std::find(tree.begin(), tree.end(), it->first) != tree.end()) {
      ++it;
      continue;
    }
    note_gone(*it->second, TaskState::kGone);
    it = targets_.erase(it);
  }
  if (gone_.size() > kMostGone) gone_.erase(gone_.begin(), gone_.begin() + 10);
  if (!targets_.count(main_) || !targets_[main_]->has_python()) {
    main_ = root_;
    for (const pid_t pid : tree) {
      if (!targets_.count(pid) || !targets_[pid]->has_python()) continue;
      main_ = pid;
      break;
    }
  }
  for (auto& [pid, target] : targets_)
    target->seen.role = pid == main_           ? Role::kMain
                        : target->has_python() ? Role::kWorker
                                               : Role::kOther;
  if (main_target()) seen_.command = redact(fmt::format("{}", fmt::join(command_line(main_), " ")));
}

// A zombie tells how it ended to those who may look.
void Watcher::note_gone(const Target& target, TaskState state) {
  SeenProcess ended = target.seen;
  ended.state = state, ended.at_s = now_s();
  const int status = ended.state == TaskState::kZombie ? wait_status_of(target.pid()) : 0;
  if (status != 0) ended.ending = ending_text(status);
  gone_.push_back(std::move(ended));
}

Target* Watcher::main_target() const {
  const auto found = targets_.find(main_);
  return found == targets_.end() ? nullptr : found->second.get();
}

void Watcher::count_stacks(Target& target, Role role) {
  const PythonThreads threads = target.read_stacks(now_s());
  if (role == Role::kMain && threads.all > 0) {
    seen_.python_threads = static_cast<int64_t>(threads.all);
    seen_.python_threads_read = static_cast<int64_t>(threads.read.size());
  }
  for (const PythonThread& thread : threads.read) {
    if (is_late()) return;
    ++seen_.samples;
    seen_.torn += thread.torn;
    if (thread.frames.empty()) continue;
    const Wait wait = target.wait_of(thread.tid);
    const bool main_thread = target.is_main_thread(thread.tid);
    const SeenStack& seen = stacks_.add(
        thread, {role, main_thread, wait, seen_.training_since_s >= 0}, target.sources, now_s());
    if (!main_thread) continue;
    target.seen.wait = wait;
    if (role == Role::kMain && seen_.training_since_s < 0 && is_training(seen.activity))
      seen_.training_since_s = now_s();
    if (role == Role::kWorker && seen.activity == Activity::kIdle &&
        thread.frames.back().code->file.ends_with("resource_tracker.py"))
      target.seen.role = Role::kOther;
  }
}

void Watcher::read_stacks() {
  if (Target* main = main_target()) count_stacks(*main, Role::kMain);
  std::vector<Target*> workers;
  for (auto& [pid, target] : targets_)
    if (pid != main_ && target->has_python()) workers.push_back(target.get());
  for (size_t i = 0; i < std::min(kWorkersPerLook, workers.size()); ++i)
    count_stacks(*workers[next_worker_++ % workers.size()], Role::kWorker);
}

void Watcher::read_counters() {
  const double now = now_s();
  if (const auto words = command_line(main_); !words.empty()) seen_.command = command_text(words);
  double cores = 0, read_bytes = 0, ready = 0, cpu = 0;
  for (auto& [pid, target] : targets_) {
    if (!target->read_counters(now)) continue;
    cores += target->seen.cores;
    read_bytes += target->read_bytes, ready += target->ready_s, cpu += target->cpu_s;
  }
  seen_.cores = cores;
  const double passed = now - last_read_s_;
  if (passed > 0) {
    const double rate = std::max(0.0, (read_bytes - last_read_bytes_) / passed);
    seen_.read_rate = kLate * seen_.read_rate + (1 - kLate) * rate;
    if (rate >= kReadMoves && last_read_s_ > 0) moved_s_ = now;
    const double waited = std::max(0.0, ready - last_ready_s_),
                 used = std::max(0.0, cpu - last_cpu_s_);
    const double wanted = (waited + used) / passed;
    seen_.wanted_cores = kLate * seen_.wanted_cores + (1 - kLate) * wanted;
    if (waited + used > 0)
      seen_.ready_share = kLate * seen_.ready_share + (1 - kLate) * waited / (waited + used);
  }
  last_read_s_ = now, last_read_bytes_ = read_bytes, last_ready_s_ = ready, last_cpu_s_ = cpu;
  if (output_.output().bytes != last_bytes_) moved_s_ = now;
  if (output_.progress().steps + variables_.progress().steps != last_steps_) moved_s_ = now;
  last_bytes_ = output_.output().bytes,
  last_steps_ = output_.progress().steps + variables_.progress().steps;

  // A loop of the user's own trains without any call that is known.
  if (seen_.training_since_s < 0 &&
      std::max(output_.progress().steps, variables_.progress().steps) >= 3)
    seen_.training_since_s = now;

  if (main_ != system_of_ || now >= next_system_s_) {  // its cgroup may change
    read_limits_of(main_);
    system_ = std::make_unique<SystemSampler>("", std::to_string(main_));
    system_of_ = main_;
    next_system_s_ = now + kAroundEveryS;
  }
  const SeenProgress progress = this->progress();
  TraceSample sample;
  sample.at_s = now;
  sample.steps = progress.steps, sample.epoch = std::max<int64_t>(0, progress.epoch - 1);
  sample.step_in_epoch = progress.step;
  sample.losses = progress.losses, sample.bad_losses = progress.bad_losses;
  sample.loss_sum = progress.loss;  // the last one
  sample.system = system_->sample();
  samples_.push_back(sample);
  thin_out(samples_, kMostSamples);
}

void Watcher::read_variables() {
  Target* main = main_target();
  if (!main || !main->has_python()) return;
  seen_.values.clear();
  const std::vector<SeenValue> own = main->read_values(main->main_stack);
  variables_.take(own, now_s());
  seen_.values = own;
  for (auto& [pid, target] : targets_) {
    if (!target->has_python()) continue;
    const PythonThreads threads = target->read_stacks(now_s());
    for (const PythonThread& thread : threads.read) {
      if (is_late()) break;
      note_source(*target, thread);
      if (thread.torn || (pid == main_ && main->is_main_thread(thread.tid))) continue;
      if (seen_.values.size() > kMostValues) continue;
      for (SeenValue& value : target->read_values(thread)) seen_.values.push_back(std::move(value));
    }
    if (seen_.values.size() > kMostValues || is_late()) break;
  }
  seen_.batch_is_empty = false;
  for (const SeenValue& value : seen_.values) {
    if (value.name == "batch_size" && !value.users)
      seen_.batch_size = std::atoll(value.value.c_str());
    seen_.batch_is_empty |= value.users && value.value == "list of 0";
    if (!value.users || kind_of_variable(value.name) != 's') continue;
    if (seen_.missing_files.size() >= kMostMissing || value.value.size() < 3) continue;
    if (value.value.find('.') == std::string::npos || value.value.find("://") != std::string::npos)
      continue;
    const auto known =
        std::find(seen_.missing_files.begin(), seen_.missing_files.end(), value.value);
    if (known == seen_.missing_files.end() && !file_exists_for(main_, value.value))
      seen_.missing_files.push_back(value.value);
  }
}

void Watcher::note_decoding(Target& target, const PythonFrame& frame) {
  const std::string& file = frame.code->file;
  const int64_t line = target.sources.decoding_line(file);
  if (line > 0) seen_.decodes_at = {file, "", line, true, target.sources.text(file, line)};
}

void Watcher::note_source(Target& target, const PythonThread& thread) {
  for (const PythonFrame& frame : thread.frames) {
    if (frame.code->users && seen_.decodes_at.line == 0) note_decoding(target, frame);
    if (!frame.code->users || seen_.endless.size() > 20) continue;
    for (const std::string& name : target.sources.endless_generators(frame.code->file)) {
      auto& all = seen_.endless_generators;
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
    const auto known = std::find(seen_.endless.begin(), seen_.endless.end(), frame.code->function);
    if (known == seen_.endless.end() &&
        target.sources.has_endless_loop(frame.code->file, frame.code->first_line))
      seen_.endless.push_back(frame.code->function);
  }
}

void Watcher::look_around_all() {
  if (!targets_.count(main_)) return;
  seen_.cpus_allowed = cpus_allowed(main_);
  const Surroundings around = look_around(main_);
  if (!around.network_files.empty()) seen_.network_files = around.network_files;
  seen_.shm_bytes = around.shm_bytes;
  seen_.shm_free_bytes = seen_.shm_free_bytes < 0
                             ? around.shm_free_bytes
                             : std::min(seen_.shm_free_bytes, around.shm_free_bytes);
  seen_.cuda_libraries = around.cuda_libraries;
  if (around.framework != Framework::kNone) seen_.framework = around.framework;
  if (!nvml_->there()) return;
  std::set<int64_t> pids;
  for (const auto& [pid, target] : targets_) pids.insert(pid);
  std::vector<SeenGpu> now = nvml_->read(pids);
  ++gpu_samples_;
  for (size_t i = 0; i < now.size(); ++i) {
    const bool before = i < seen_.gpus.size();
    const double mean = before ? seen_.gpus[i].utilisation : now[i].recent;
    now[i].utilisation = mean + (now[i].recent - mean) / double(gpu_samples_);
    now[i].used |= before && seen_.gpus[i].used;
  }
  seen_.gpus = std::move(now);
}

void Watcher::ended(int wait_status) {
  seen_.exit = ending_text(wait_status);
  seen_.exit_status =
      WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// By the output where it counts steps, else by variables; losses are known by the output alone.
SeenProgress Watcher::progress() const {
  const SeenProgress& said = output_.progress();
  if (said.steps > 0) return said;
  SeenProgress out = variables_.progress();
  out.loss = said.loss, out.first_loss = said.first_loss;
  out.losses = said.losses, out.bad_losses = said.bad_losses;
  return out;
}

Trace Watcher::trace() const {
  Trace out;
  out.run = run_;
  out.samples = samples_;
  Outside& o = out.outside = seen_;
  o.at_s = seen_.gone ? seen_.at_s : now_s();
  o.output = output_.output();
  o.output.watched = options_.launched;
  o.progress = progress();
  o.stacks = stacks_.most(kMostStacks);
  o.quiet_s = o.at_s - moved_s_;
  if (const Target* main = main_target()) {
    o.main_still_s = main->has_python() ? o.at_s - main->changed_s : 0;
    std::map<std::string, SeenThreads> groups;
    for (const auto& thread : main->threads) {
      const bool first = thread.tid == main_;
      SeenThreads& group = groups[first ? "main thread" : without_digits(thread.name)];
      const auto cores = main->thread_cores.find(thread.tid);
      const double used = cores == main->thread_cores.end() ? 0 : cores->second;
      group.name = first ? "main thread" : without_digits(thread.name);
      group.main = first;
      ++group.count;
      group.cpu_s += thread.cpu_s, group.cores += used;
      group.busiest = std::max(group.busiest, used);
    }
    for (auto& [name, group] : groups) o.threads.push_back(group);
    if (!main->has_python() && o.at_s > 1) {
      o.blind = main->problem;
      const std::string why = seen_.gone ? "" : why_not_readable(main_);
      if (!why.empty()) o.blind += ": " + why;
    }
    if (main->has_python() && o.stacks.empty() && o.at_s > 2)
      o.blind = fmt::format("its Python {} shows no stack that can be read", main->seen.python);
  }
  for (const auto& [pid, target] : targets_) {
    SeenProcess seen = target->seen;
    SourceLines& sources = target->sources;
    seen.stack = seen_frames(target->main_stack, sources);
    seen.waits_for_task = waits_for_task(seen.stack);
    seen.waits_for_worker = waits_for_worker(seen.stack);
    o.processes.insert(pid == main_ ? o.processes.begin() : o.processes.end(), std::move(seen));
  }
  o.processes.insert(o.processes.end(), gone_.begin(), gone_.end());
  out.run.program = o.command;
  if (!seen_.exit.empty())
    out.ending = seen_.exit_status == 0 ? "finished" : "failed: " + seen_.exit;
  return out;
}

}  // namespace headway
