#include "cli/native_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/output.h"
#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/probe/native/cpu_sampler.h"
#include "headway/probe/native/native_stack.h"
#include "headway/probe/process/permission.h"
#include "headway/probe/process/proc_files.h"

namespace headway::cli {
namespace {

constexpr int64_t kNamesNs = 2'000'000'000;  // for the names of one library
constexpr double kSamplesPerSecond = 99;     // of each core

using Json = nlohmann::ordered_json;

Json json_of(const NativeFrame& frame) {
  if (!frame.image) return {{"function", ""}, {"library", ""}};
  frame.image->names.prepare(now_ns() + kNamesNs);
  return {{"function", readable_name(frame.image->names.at(frame.address))},
          {"library", frame.image->library}};
}

Json stack_of(pid_t pid, pid_t tid, NativeStacks& stacks) {
  const std::string comm = file_text(fmt::format("/proc/{}/task/{}/comm", pid, tid), 64);
  bool runs = false;
  const auto frames = stacks.waiting(tid, MemoryReader(pid), &runs);
  Json out{{"tid", tid},
           {"name", comm.substr(0, comm.find('\n'))},
           {"running", runs},
           {"frames", Json::array()}};
  for (const NativeFrame& frame : frames) out["frames"].push_back(json_of(frame));
  return out;
}

// Which function runs, so often.
struct Ran {
  const NativeImage* image;
  std::string symbol;
  auto operator<=>(const Ran&) const = default;
};

Ran innermost_of(const CpuSample& sample, NativeStacks& stacks) {
  const auto frames = stacks.walk(sample.registers, {});  // no stack: the innermost alone
  if (frames.empty() || !frames[0].image) return {nullptr, ""};
  NativeImage& image = *frames[0].image;
  image.names.prepare(now_ns() + kNamesNs);
  return {&image, image.names.at(frames[0].address)};
}

}  // namespace

void print_native_samples(pid_t pid, double seconds, LookGuard& guard) {
  const auto user = file_user_of(pid);
  if (!user)
    throw Error(fmt::format("the threads of process {} cannot be read", pid),
                why_not_readable(pid));
  std::string why_not;
  const auto sampler = CpuSampler::open(kSamplesPerSecond, why_not);
  if (!sampler)
    throw Error("--samples cannot record which C and C++ functions use the CPU", why_not);
  if (!sampler->follow(pid))
    throw Error(
        fmt::format("process {} has more threads than this user may watch at the same time", pid),
        "raise the limit on open files in this shell (ulimit -n 65536), or run headway as root");
  NativeImages images;
  NativeStacks stacks(pid, *user, images);
  std::map<Ran, int64_t> counts;
  int64_t all = 0;
  for (const int64_t end = now_ns() + static_cast<int64_t>(1e9 * seconds); now_ns() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    guard.during([&] {
      sampler->read(pid, [&](const CpuSample& sample) {
        if (sample.registers[kReturnAddress]) ++all, ++counts[innermost_of(sample, stacks)];
      });
      return true;
    });
  }
  Json functions = Json::array();
  for (const auto& [ran, samples] : counts)
    functions.push_back({{"function", readable_name(ran.symbol)},
                         {"symbol", ran.symbol},
                         {"library", ran.image ? ran.image->library : ""},
                         {"samples", samples}});
  std::sort(functions.begin(), functions.end(),
            [](const Json& a, const Json& b) { return a["samples"] > b["samples"]; });
  print_json_in_order(
      {{"pid", pid}, {"samples", all}, {"lost", sampler->lost()}, {"functions", functions}});
}

void print_native_stacks(pid_t pid, LookGuard& guard) {
  const auto user = file_user_of(pid);
  if (!user)
    throw Error(fmt::format("the threads of process {} cannot be read", pid),
                why_not_readable(pid));
  NativeImages images;
  NativeStacks stacks(pid, *user, images);
  Json out{{"pid", pid}, {"threads", Json::array()}};
  for (const pid_t tid : threads_of(fmt::format("/proc/{}/task", pid)))
    out["threads"].push_back(guard.during([&] { return stack_of(pid, tid, stacks); }));
  print_json_in_order(out);
}

}  // namespace headway::cli
