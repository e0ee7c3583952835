#include "cli/native_stacks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/probe/native/native_stack.h"
#include "headway/probe/permission.h"
#include "headway/probe/proc_files.h"

namespace headway::cli {
namespace {

constexpr int64_t kNamesNs = 2'000'000'000;  // for the names of one library

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

}  // namespace

void print_native_stacks(pid_t pid, LookGuard& guard) {
  const auto user = file_user_of(pid);
  if (!user) throw Error(fmt::format("process {} cannot be read", pid), why_not_readable(pid));
  NativeImages images;
  NativeStacks stacks(pid, *user, images);
  Json out{{"pid", pid}, {"threads", Json::array()}};
  for (const pid_t tid : threads_of(fmt::format("/proc/{}/task", pid)))
    out["threads"].push_back(guard.during([&] { return stack_of(pid, tid, stacks); }));
  print_json_in_order(out);
}

}  // namespace headway::cli
