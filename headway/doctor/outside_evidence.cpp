#include "headway/doctor/outside_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace headway {

bool on_main(const SeenStack& s) { return s.process == Role::kMain && s.main_thread; }

bool producing(const SeenStack& s) {
  if (s.activity == Activity::kProduce)
    return s.user_frame() != nullptr || s.process == Role::kWorker;
  return false;
}

bool running_on_core(const SeenStack& s) { return s.wait == Wait::kNothing; }

std::string place_text(const SeenFrame& frame) {
  const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
  std::string out = fmt::format("{}:{}", file, frame.line);
  if (!frame.text.empty()) out += "   " + frame.text;
  return out;
}

OutsideEvidence::OutsideEvidence(const Trace& t) : trace(t), seen(t.outside) {
  for (const SeenStack& stack : seen.stacks) {
    if (!on_main(stack)) continue;
    // Training begins with the building of graphs, which says nothing about its pace.
    if (stack.training && stack.activity != Activity::kTrace) training_samples_ += stack.samples;
    late_samples_ += stack.recent;
  }
  for (const SeenProcess& process : seen.processes) {
    ranks_ += process.role == Role::kRank;
    if (process.role != Role::kWorker) continue;
    workers_ += process.ending.empty() && process.there();
    ended_ += !process.there();
  }
}

const SeenProcess* OutsideEvidence::main() const {
  for (const SeenProcess& process : seen.processes)
    if (process.role == Role::kMain) return &process;
  return nullptr;
}

double OutsideEvidence::cpus() const {
  const double machine = trace.run.cpus > 0 ? trace.run.cpus : 1;
  return seen.cpus_allowed > 0 ? std::min(machine, seen.cpus_allowed) : machine;
}

int64_t OutsideEvidence::count(const Test& test, bool late) const {
  int64_t sum = 0;
  for (const SeenStack& stack : seen.stacks)
    if (test(stack)) sum += late ? stack.recent : stack.samples;
  return sum;
}

double OutsideEvidence::training_share(const Test& test) const {
  if (training_samples_ == 0) return 0;
  const auto passing = count([&](const SeenStack& s) { return s.training && test(s); });
  return double(passing) / double(training_samples_);
}

double OutsideEvidence::late_share(const Test& test) const {
  return late_samples_ > 0 ? double(count(test, true)) / double(late_samples_) : 0;
}

HotLine OutsideEvidence::hottest(const Test& test, bool late) const {
  struct Sum {
    const SeenFrame* frame = nullptr;
    int64_t samples = 0;
    std::map<std::string, int64_t> libraries{};
  };
  std::map<std::pair<std::string, int64_t>, Sum> lines;
  int64_t total = 0;
  for (const SeenStack& stack : seen.stacks) {
    const int64_t samples = late ? stack.recent : stack.samples;
    if (!test(stack) || samples == 0) continue;
    total += samples;
    const SeenFrame* frame = stack.user_frame();
    if (!frame) continue;
    Sum& sum = lines[{frame->file, frame->line}];
    sum.frame = frame;
    sum.samples += samples;
    if (frame != &stack.frames[0]) {  // the library function that the user's line called
      const SeenFrame& called = *(frame - 1);
      sum.libraries[called.function] += samples;
    }
  }
  const Sum* best = nullptr;
  for (const auto& [line, sum] : lines)
    if (!best || sum.samples > best->samples) best = &sum;
  if (!best) return {};
  HotLine out{.frame = best->frame, .share = double(best->samples) / double(total)};
  int64_t most = 0;
  for (const auto& [name, samples] : best->libraries)
    if (samples > most) most = samples, out.library = name;
  return out;
}

double OutsideEvidence::share_with_lock(const Test& test) const {
  int64_t all = 0, with = 0;
  for (const SeenStack& stack : seen.stacks)
    if (test(stack)) all += stack.samples, with += stack.with_gil;
  return all > 0 ? double(with) / double(all) : 0;
}

double OutsideEvidence::interpreted_share(const Test& test) const {
  // Per function: a long call shows as one instruction that is seen again and again.
  struct Sum {
    int64_t samples = 0, top = 0, places = 0;
  };
  std::map<std::string, Sum> functions;
  int64_t total = 0;
  for (const SeenStack& stack : seen.stacks) {
    if (!test(stack)) continue;
    total += stack.samples;
    if (stack.frames.empty() || !stack.frames[0].users || !running_on_core(stack)) continue;
    Sum& sum = functions[stack.frames[0].file + stack.frames[0].function];
    sum.samples += stack.samples;
    sum.top = std::max(sum.top, stack.top_place);
    sum.places += stack.places;
  }
  int64_t interpreted = 0;
  for (const auto& [name, sum] : functions) {
    constexpr int64_t kManyPlaces = 8;
    if (sum.places >= kManyPlaces && 2 * sum.top < sum.samples) interpreted += sum.samples;
  }
  return total > 0 ? double(interpreted) / double(total) : 0;
}

bool OutsideEvidence::workers_train() const {
  constexpr double kOften = 0.3;
  const auto works = [](const SeenStack& s) { return s.process == Role::kWorker && s.main_thread; };
  const auto steps = [](const SeenStack& s) { return s.activity == Activity::kStep; };
  const int64_t all = count(works);
  const int64_t stepping = count([&](const SeenStack& s) { return works(s) && steps(s); });
  const int64_t own = count([&](const SeenStack& s) { return on_main(s) && steps(s); });
  return workers_ > 0 && own == 0 && double(stepping) > kOften * double(all);
}

bool OutsideEvidence::trains_itself() const {
  constexpr double kSomething = 0.1;
  if (workers_train()) return false;
  if (seen.framework != Framework::kNone) return true;
  const auto computes = [](const SeenStack& s) {
    return on_main(s) && running_on_core(s) &&
           (s.activity == Activity::kUser || s.activity == Activity::kStep);
  };
  return training_share(computes) >= kSomething;
}

bool OutsideEvidence::memory_grows() const {
  constexpr double kBackS = 15, kByAtLeast = 20e6, kShare = 0.02;
  if (trace.samples.empty()) return false;
  const TraceReading& now = trace.samples.back();
  const TraceReading* then = &now;
  for (size_t i = trace.samples.size(); i-- > 0 && now.at_s - then->at_s < kBackS;)
    then = &trace.samples[i];
  const double before = double(then->system.rss_bytes);
  const double grown = double(now.system.rss_bytes) - before;
  return grown >= kByAtLeast && grown >= kShare * before;
}

}  // namespace headway
