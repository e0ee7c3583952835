#include "headway/probe/watcher.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "headway/core/clock.h"
#include "headway/core/limits.h"
#include "headway/probe/activity.h"
#include "headway/probe/process/endings.h"
#include "headway/probe/process/permission.h"
#include "headway/probe/process/waits_for.h"
#include "headway/probe/roles.h"
#include "headway/probe/source/program_facts.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr double kStacksEveryS = 0.05, kCountersEveryS = 0.5, kAroundEveryS = 5, kSeeksEveryS = 1;
constexpr double kMostBetweenCountersS = 1;  // rules look at the last seconds
constexpr int64_t kLongestLookNs = 500'000'000;
constexpr size_t kMostKept = 256 << 20;    // bytes kept of targets
constexpr size_t kMostNative = 256 << 20;  // bytes kept of their libraries
constexpr double kMostOfACore = 0.015;     // for all reading ...
constexpr double kMostForCounters = 0.006, kLeastForStacks = 0.004;  // ... and of that
constexpr size_t kWorkersPerLook = 2;  // stacks of workers are read in turn
constexpr size_t kMostGone = 40, kMostSamples = 600, kMostStacks = 250, kMostLoops = 64;
constexpr size_t kMostValues = 60;
constexpr double kLongAtWorkS = 15;

bool is_read_in_turn(Role role) { return role == Role::kWorker || role == Role::kRank; }

}  // namespace

Watcher::Watcher(pid_t root, Options options)
    : root_(root),
      options_(options),
      began_ns_(now_ns()),
      root_started_ticks_(stat_of(root).started_ticks),
      pause_(static_cast<uint64_t>(began_ns_)) {
  seen_.seen = true;
  seen_.pid = root;
  seen_.launched = options.launched;
  run_.eye = Eye::kOutside;
  read_limits_of(root);
  run_.machine_cores = sysconf(_SC_NPROCESSORS_ONLN);
  const TaskStat stat = stat_of(root);
  if (!options.launched) {
    seen_.unwatched = why_not_readable(root);
    output_.joins_late();
  }
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

// A child of ours keeps its pid until we have asked how it ended.
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
    const int64_t before = thread_cpu_ns();
    find_processes();
    read_counters();
    read_variables();
    forget_if_much();
    const double cost = 1e-9 * double(thread_cpu_ns() - before);
    const double every = std::max(kCountersEveryS, cost / kMostForCounters);
    counters_share_ = cost / every;
    next_counters_s_ = now + std::min(every, kMostBetweenCountersS);
  }
  if (now >= next_around_s_) {
    look_around_all();
    // Until the GPU that trains is known, looks say nothing about it.
    const bool seeks = seen_.training_since_s >= 0 && !devices_.seen().empty() && !devices_.used();
    next_around_s_ = now + (seeks ? kSeeksEveryS : kAroundEveryS);
  }
  if (now >= next_stacks_s_) {
    native_.prepare(stop_ns_);  // once per library: no reason to look less often
    const int64_t before = thread_cpu_ns();
    read_stacks();
    read_prints();
    const double cost = 1e-9 * double(thread_cpu_ns() - before);
    const double share = std::max(kLeastForStacks, kMostOfACore - counters_share_);
    next_stacks_s_ = now + std::max(kStacksEveryS, cost / share) * pause_.next();
  }
  return true;
}

void Watcher::forget_if_much() {
  if (native_.kept_bytes() > kMostNative) native_.forget();
  size_t kept = 0;
  for (const auto& [pid, target] : targets_) kept += target->kept_bytes();
  if (kept > kMostKept)
    for (auto& [pid, target] : targets_) target->forget();
}

void Watcher::find_processes() {
  const std::vector<pid_t> tree = process_tree(root_);
  std::set<pid_t> still_zombies;
  tree_cpu_s_ = 0;
  for (const pid_t pid : tree) {
    const TaskStat stat = stat_of(pid);
    tree_cpu_s_ += stat.cpu_s + stat.reaped_s;  // an ended process's time goes to its parent
    const auto known = targets_.find(pid);
    if (known != targets_.end() && stat.state != '?' && !known->second->is(stat)) {
      note_gone(*known->second, TaskState::kGone);  // another process got its pid
      targets_.erase(known);
    }
    if (stat.alive() && !targets_.count(pid)) {
      Target& target = *(targets_[pid] = std::make_unique<Target>(pid));
      target.stop_at(stop_ns_);
      target.changed_s = target.any_changed_s = now_s();
      target.parent = stat.parent;
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
  find_roles(tree);
}

void Watcher::find_roles(const std::vector<pid_t>& tree) {
  std::vector<RunProcess> processes;
  for (const pid_t pid : tree) {
    const auto found = targets_.find(pid);
    if (found == targets_.end()) continue;
    const Target& target = *found->second;
    const double since = target.launches_since_s;
    processes.push_back({.pid = pid,
                         .parent = target.parent,
                         .python = target.has_python(),
                         .trains = target.trains,
                         .launches_s = since < 0 ? 0 : now_s() - since,
                         .cores = target.seen.cores});
  }
  const pid_t main = who_trains(processes, main_);
  const bool launched =
      main != main_ && targets_.count(main_) && targets_[main_]->launches_since_s >= 0;
  main_ = main != 0 ? main : root_;
  if (launched) {  // what was seen so far belongs to the launcher
    stacks_ = StackCounts();
    if (seen_.training_since_s >= 0) seen_.training_since_s = now_s();
  }
  give_roles(processes, main_);
  native_.watch(main_);
  for (const RunProcess& process : processes) targets_[process.pid]->seen.role = process.role;
}

// Does the process train, and how much of that time does it wait for other ranks?
void Watcher::note_rank(Target& target, const SeenStack& stack) {
  const bool together = stack.activity == Activity::kCollective;
  const bool steps = stack.activity == Activity::kStep || stack.activity == Activity::kFit;
  target.trains |= steps || together;
  const bool blocked =
      stack.wait == Wait::kLock || stack.wait == Wait::kPoll || stack.wait == Wait::kSocket;
  ++target.seen.looks;
  target.seen.waits_for_ranks += together || (steps && blocked);
}

// A zombie shows how it ended, if we may read it.
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

// What the main thread was doing. Nothing if it runs no Python although training has begun: then
// the program is about to end.
std::optional<Account> Watcher::count_stacks(Target& target, Role role) {
  std::optional<Account> account = Account::kUnknown;
  const bool trains = seen_.training_since_s >= 0;
  const PythonThreads threads = target.read_stacks(now_s());
  if (role == Role::kMain && threads.all > 0) {
    seen_.python_threads = static_cast<int64_t>(threads.all);
    seen_.python_threads_read = static_cast<int64_t>(threads.read.size());
  }
  for (const PythonThread& thread : threads.read) {
    if (is_late()) return account;
    ++seen_.samples;
    seen_.torn += thread.torn;
    const bool main_thread = target.is_main_thread(thread.tid);
    if (thread.frames.empty()) {
      if (main_thread && thread.torn) account = last_account_;  // it changes too fast to read
      else if (main_thread) account = trains ? std::nullopt : std::optional(Account::kPrepares);
      continue;
    }
    const Wait wait = target.wait_of(thread.tid);
    const SeenStack& seen = stacks_.add(thread, {role, main_thread, wait, trains, devices_.used()},
                                        target.sources, now_s());
    if (!main_thread) continue;
    target.seen.wait = seen.wait;
    if (!waits_for_children(seen.frames)) target.launches_since_s = -1;
    else if (target.launches_since_s < 0) target.launches_since_s = now_s();
    note_rank(target, seen);
    account = seen.account;  // for a torn one by its outer frames, which did not change
    if (role == Role::kMain)
      account = native_.account_of(compiling_.account_of(seen, now_s()), stop_ns_);
    if (role == Role::kMain) last_account_ = seen.account;
    if (role == Role::kMain && !thread.torn) {
      note_training_thread(thread, seen);
      if (trains && seen_.framework == Framework::kTorch) note_shape_clash(target, thread, seen_);
    }
    if (role == Role::kWorker && seen.activity == Activity::kIdle &&
        thread.frames.back().code->file.ends_with("resource_tracker.py"))
      target.seen.role = Role::kOther;
  }
  return account;
}

// We cannot see the output of a program without a framework that we did not start: if it has long
// worked in a loop of its own, that is taken for training.
bool Watcher::trains_unseen(const SeenStack& stack) const {
  const bool loops = std::any_of(stack.frames.begin(), stack.frames.end(),
                                 [](const SeenFrame& f) { return f.users && f.loops > 0; });
  return !options_.launched && seen_.framework == Framework::kNone && loops &&
         seen_.since_start_s >= kLongAtWorkS && stack.activity == Activity::kUser &&
         stack.wait == Wait::kNothing;
}

void Watcher::note_training_thread(const PythonThread& thread, const SeenStack& stack) {
  const Activity activity = stack.activity;
  if (seen_.training_since_s < 0 && (is_training(activity) || trains_unseen(stack)))
    seen_.training_since_s = now_s();
  output_.validates(activity == Activity::kValidate);
  const bool steps =
      activity == Activity::kStep || activity == Activity::kTrace || activity == Activity::kSync;
  bool inside = false;  // called by a compiler that builds its graph: its loops are not steps
  for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame) {
    const PythonCode& code = *frame->code;
    if (code.users && steps && !inside && loops_.stepping.size() < kMostLoops)
      loops_.stepping.insert(code.function);
    inside |= !code.users && activity == Activity::kTrace;
    if (code.users || !code.function.ends_with("fit")) continue;
    keras_fits_ |= code.file.find("keras/") != std::string::npos;
    lightning_fits_ |= code.file.find("lightning") != std::string::npos;
  }
}

CoreLedger::Stage Watcher::stage() const {
  const SeenProgress progress = this->progress();
  return {.now_s = now_s(),
          .trains = seen_.training_since_s >= 0,
          .steps = progress.steps,
          .stepped = progress.first_step_s >= 0};
}

void Watcher::read_stacks() {
  Target* main = main_target();
  native_.read_samples(seen_.training_since_s >= 0, now_s(), stop_ns_);
  const auto account = main ? count_stacks(*main, Role::kMain) : Account::kUnknown;
  if (account) ledger_.look(stage(), *account, devices_.state(*account));
  std::vector<Target*> workers;
  for (auto& [pid, target] : targets_)
    if (target->has_python() && is_read_in_turn(target->seen.role)) workers.push_back(target.get());
  for (size_t i = 0; i < std::min(kWorkersPerLook, workers.size()); ++i) {
    Target& next = *workers[next_worker_++ % workers.size()];
    count_stacks(next, next.seen.role);
  }
}

// The output of a program that we did not start does not pass through us.
void Watcher::read_prints() {
  Target* main = main_target();
  if (options_.launched || !main) return;
  for (const bool errors : {false, true})
    if (const std::string lines = main->read_prints(errors); !lines.empty())
      output_.take(lines, now_s(), errors);
}

void Watcher::read_ledger(CoreLedger::Used used) {
  used.main = main_, used.cpu_s = tree_cpu_s_;
  Neighbours::Own own{.watcher = ::getpid(), .relay = options_.launched ? ::getppid() : 0};
  for (const auto& [pid, target] : targets_) own.run.insert(pid);
  ledger_.read(stage(), used, own);
}

void Watcher::read_counters() {
  const double now = now_s();
  if (const auto words = command_line(main_); !words.empty()) seen_.command = command_text(words);
  double cores = 0;
  RunRates::Sums sums;
  CoreLedger::Used used_now;
  std::map<pid_t, std::string> tree;
  for (const auto& [pid, target] : targets_) tree[pid] = target->seen.name;
  for (auto& [pid, target] : targets_) {
    const double ready_before = target->ready_s, main_cpu_before = target->main_cpu_s,
                 main_ready_before = target->main_ready_s, model_before = target->model_s;
    if (!target->read_counters(now)) continue;
    used_now.ready_s += target->ready_s - ready_before;
    if (pid == main_) {
      used_now.main_cpu_s += target->main_cpu_s - main_cpu_before;
      used_now.main_ready_s += target->main_ready_s - main_ready_before;
      used_now.model_s += target->model_s - model_before;
      seen_.model_threads = target->model_threads;
    }
    target->look_whom(now, tree);
    cores += target->seen.cores;
    sums.read_bytes += target->read_bytes;
    sums.ready_s += target->ready_s, sums.cpu_s += target->cpu_s;
  }
  seen_.cores = cores;
  if (rates_.take(now, sums, seen_)) moved_s_ = now;
  if (output_.output().bytes != last_bytes_) moved_s_ = now;
  if (output_.progress().steps + variables_.progress().steps != last_steps_) moved_s_ = now;
  last_bytes_ = output_.output().bytes,
  last_steps_ = output_.progress().steps + variables_.progress().steps;

  // A loop of the user's own trains without a known call if it makes steps or tells
  // losses.
  const auto trains = [](const SeenProgress& p) { return p.steps >= 3 || p.losses >= 3; };
  if (seen_.training_since_s < 0 && (trains(output_.progress()) || trains(variables_.progress())))
    seen_.training_since_s = now;

  if (main_ != system_of_ || now >= next_system_s_) {  // its cgroup may change
    read_limits_of(main_);
    system_ = std::make_unique<SystemReader>("", std::to_string(main_));
    system_of_ = main_;
    next_system_s_ = now + kAroundEveryS;
  }
  const SeenProgress progress = this->progress();
  TraceReading sample;
  sample.at_s = now;
  // Output and variables begin to count at different moments: a reading continues from the last
  // one.
  if (progress.source != counted_by_)
    counted_by_ = progress.source, steps_before_ += counted_ - progress.steps;
  counted_ = progress.steps;
  sample.steps = steps_before_ + progress.steps,
  sample.epoch = std::max<int64_t>(0, progress.epoch - 1);
  sample.step_in_epoch = progress.step;
  sample.losses = progress.losses, sample.bad_losses = progress.bad_losses;
  sample.loss_sum = progress.loss;  // the last one
  sample.system = system_->sample();
  devices_.look(progress.steps > 0            ? Devices::Stage::kStepping
                : seen_.training_since_s >= 0 ? Devices::Stage::kTraining
                                              : Devices::Stage::kBefore,
                now_s());
  sample.gpu = devices_.counters();
  used_now.throttled_s = sample.system.throttled_s;
  read_ledger(used_now);
  samples_.push_back(sample);
  thin_out(samples_, kMostSamples);
}

void Watcher::read_variables() {
  Target* main = main_target();
  const bool pipelines =
      seen_.framework == Framework::kTensorFlow || seen_.framework == Framework::kKeras;
  if (main && pipelines && seen_.training_since_s >= 0)
    native_.look_for_takers(main->threads, now_s(), stop_ns_);
  if (!main || !main->has_python()) return;
  seen_.values = main->read_values(main->main_stack);
  loops_.framework = seen_.framework != Framework::kNone;
  variables_.take(seen_.values, loops_, now_s());
  output_.steps_are(variables_.progress().steps);
  if (seen_.training_since_s >= 0 && main->model() && !main->main_stack.torn)
    main->model()->look(main->main_stack, now_s(), stage().steps);
  note_thread_settings(*main, main->main_stack, seen_);
  if (reads_others_ = !reads_others_; reads_others_) read_other_variables();
  seen_.values.insert(seen_.values.end(), other_values_.begin(), other_values_.end());
  if (seen_.values.size() > kMostValues) seen_.values.resize(kMostValues);
  note_values(seen_.values, main_, seen_);
}

// Variables of all threads but the main one: expensive, so they are read half as often.
void Watcher::read_other_variables() {
  other_values_.clear();
  for (auto& [pid, target] : targets_) {
    if (!target->has_python()) continue;
    const PythonThreads threads = target->read_stacks(now_s());
    for (const PythonThread& thread : threads.read) {
      if (is_late()) return;
      note_source(*target, thread, seen_);
      if (thread.torn || (pid == main_ && target->is_main_thread(thread.tid))) continue;
      if (other_values_.size() > kMostValues) continue;
      for (SeenValue& value : target->read_values(thread))
        other_values_.push_back(std::move(value));
    }
    if (other_values_.size() > kMostValues) return;
  }
}

void Watcher::look_around_all() {
  if (!targets_.count(main_)) return;
  const Surroundings around = look_around(main_);
  note_surroundings(around, main_, seen_);
  note_compiled(around.compiled, now_s(), progress().steps, seen_);
  if (keras_fits_) seen_.framework = Framework::kKeras;
  seen_.fits = keras_fits_ || lightning_fits_;
  output_.framework(seen_.framework != Framework::kNone);
  std::set<int64_t> pids;
  for (const auto& [pid, target] : targets_) pids.insert(pid);
  devices_.look_around(pids, around.gpu_open);
}

void Watcher::ended(int wait_status) {
  seen_.exit = ending_text(wait_status);
  seen_.exit_status =
      WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// From the output if it counts steps, else from variables; the same for losses.
SeenProgress Watcher::progress() const {
  const SeenProgress &said = output_.progress(), &shown = variables_.progress();
  SeenProgress out = said.steps > 0 ? said : shown;
  const SeenProgress& losses = output_.losses().empty() ? shown : said;
  out.loss = losses.loss, out.first_loss = losses.first_loss;
  out.losses = losses.losses, out.bad_losses = losses.bad_losses;
  out.several_losses = losses.several_losses, out.rewards = said.rewards;
  out.rates = said.rates, out.vanished_rates = said.vanished_rates;
  out.rate = said.rate, out.highest_rate = said.highest_rate;
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
  o.losses = (output_.losses().empty() ? variables_.losses() : output_.losses()).kept();
  ledger_.put_into(o);
  native_.put_into(o);
  o.gpus = devices_.seen();
  o.stacks = stacks_.most(kMostStacks);
  o.quiet_s = o.at_s - moved_s_;
  if (const Target* main = main_target()) {
    o.main_still_s = main->has_python() ? o.at_s - main->changed_s : 0;
    o.threads = main->threads_by_name();
    if (LiveModel* model = main_target()->model(); model && model->seen().looks > 0) {
      o.model = model->seen();
      out.weights = model->weights(), out.numbers = model->numbers();
    }
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
    // Two connected sockets without a name are a pipe within the run.
    if (seen.wait == Wait::kSocket && seen.waits_for == kSocketPair) seen.wait = Wait::kPipe;
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
