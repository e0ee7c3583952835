#include "cli/stacks.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "headway/core/clock.h"
#include "headway/core/error.h"
#include "headway/probe/process/permission.h"
#include "headway/probe/process/proc_files.h"
#include "headway/probe/python/python_stack.h"
#include "headway/trace/redact.h"

namespace headway::cli {
namespace {

constexpr double kPatienceS = 0.03;  // some of Python's turns with its lock
constexpr int64_t kLongestNs = 800'000'000;

using Json = nlohmann::ordered_json;

// Numbers of threads: as the process knows them -> as we do.
std::map<pid_t, pid_t> outside_numbers(pid_t pid) {
  std::map<pid_t, pid_t> out;
  for (const pid_t tid : numbers_in(fmt::format("/proc/{}/task", pid)))
    out[number_inside(pid, tid)] = tid;
  return out;
}

std::string last_part(const std::string& qualname) {
  return qualname.substr(qualname.rfind('.') + 1);
}

Json json_of(const PythonThread& thread, pid_t pid, pid_t tid) {
  const std::string comm = file_text(fmt::format("/proc/{}/task/{}/comm", pid, tid), 64);
  Json out{{"tid", tid},
           {"name", comm.substr(0, comm.find('\n'))},
           {"holds_gil", thread.holds_gil},
           {"complete", !thread.torn},
           {"frames", Json::array()}};
  for (const PythonFrame& frame : thread.frames) {
    out["frames"].push_back({{"function", last_part(frame.code->function)},
                             {"qualname", frame.code->function},
                             {"file", redact_path(frame.code->file)},
                             {"line", frame.line},
                             {"offset", static_cast<int64_t>(frame.instruction)}});
  }
  return out;
}

}  // namespace

void print_stacks(pid_t pid, int count, double interval_ms, LookGuard& guard) {
  std::string problem;
  const auto runtime = guard.during([&] { return find_python(pid, &problem); });
  if (!runtime) {
    const std::string why = why_not_readable(pid);
    throw Error(problem, why.empty() ? "give the process ID of a Python program: `headway attach` "
                                       "without an ID lists what looks like training"
                                     : why);
  }
  PythonStacks stacks = guard.during([&] { return PythonStacks(pid, *runtime); });
  const std::string version = fmt::format("{}.{}", runtime->version.major, runtime->version.minor);
  for (int i = 0; i < count && !interrupted(); ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(interval_ms));
    const int64_t began = now_ns();
    stacks.stop_at(began + kLongestNs);
    const PythonThreads threads = guard.during([&] { return stacks.read(kPatienceS); });
    const int64_t ended = now_ns();
    if (threads.read.empty())
      throw Error(fmt::format("the Python threads of process {} cannot be read", pid),
                  fmt::format("it may have ended: check with `ps {}` whether it still runs", pid));
    const std::map<pid_t, pid_t> numbers = outside_numbers(pid);
    Json out{{"pid", pid},
             {"python", version},
             {"at_ns", began},
             {"end_ns", ended},
             {"threads_in_all", threads.all},
             {"threads", Json::array()}};
    for (const PythonThread& thread : threads.read) {
      const auto tid = numbers.find(thread.tid);
      out["threads"].push_back(json_of(thread, pid, tid == numbers.end() ? 0 : tid->second));
    }
    print_json_in_order(out);
  }
}

}  // namespace headway::cli
