#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "headway/probe/native/cpu_sampler.h"
#include "headway/probe/native/native_stack.h"
#include "headway/probe/native/native_table.h"
#include "headway/probe/process/proc_files.h"
#include "headway/trace/outside.h"

namespace headway {

// What native code of a run does. Threads that wait are read from their stacks; threads that run
// are found by hits, if the kernel allows it, else only the first part works. Not for several
// threads.
class NativeEye {
 public:
  explicit NativeEye(const NativeTable& table = NativeTable::built_in()) : table_(table) {}

  // Says which process trains. Call it whenever that may have changed.
  void watch(pid_t main);
  // Checks a few of the main process's threads: do they take elements from a pipeline?
  void look_for_takers(const std::vector<ThreadCounters::Thread>& threads, double now_s,
                       int64_t stop_ns);
  // Takes the hits since the last call. `training`: code that runs now is part of training.
  void read_samples(bool training, double now_s, int64_t stop_ns);
  // Reads on in the symbol tables for a moment: a library has no names until its table is read.
  void prepare(int64_t stop_ns);

  // The account for a moment that Python's stack assigns to `by_python`: from Python, a step of
  // TensorFlow's that waits for its pipeline, or compiles, looks like any other step.
  Account account_of(Account by_python, int64_t stop_ns);

  // Does a step wait for an element of the pipeline right now? Nothing if no thread that asks for
  // elements was found.
  std::optional<bool> wants_element(int64_t stop_ns);
  // What the main thread does, by its last hit since this was last asked; if it did not run, by
  // most hits of the other threads of its process. kOther: nothing special, or no hits.
  NativeKind now();

  void put_into(Outside& out) const;
  // Drops what can be read again; kept_bytes() says how much that is.
  void forget();
  size_t kept_bytes() const { return images_.kept_bytes(); }

 private:
  struct Function {
    NativeKind kind = NativeKind::kOther;
    std::string name{};  // as people read it; empty: has no name
  };
  struct Place {
    const NativeImage* image;
    uint64_t function;
    bool operator==(const Place&) const = default;
  };
  struct HashOfPlace {
    size_t operator()(const Place& p) const {
      return std::hash<const void*>()(p.image) ^ (p.function * 0x9e3779b97f4a7c15ull);
    }
  };
  struct Kinds {  // found on one stack
    NativeKind innermost = NativeKind::kOther;
    const Function* function = nullptr;  // that one
    std::string library{};
    uint32_t all = 0;  // one bit for each kind

    bool has(NativeKind kind) const { return all >> static_cast<int>(kind) & 1; }
  };
  const Function& function_at(const NativeFrame& frame);
  Kinds kinds_of(const std::vector<NativeFrame>& frames);
  static bool takes_elements(const Kinds& kinds);
  void sample_main();
  void add_taker(pid_t tid, double now_s);
  void take(const CpuSample& sample, bool training, double now_s);

  const NativeTable& table_;
  NativeImages images_;
  std::unique_ptr<NativeStacks> stacks_;  // of the main process
  pid_t main_ = 0;
  std::unordered_map<Place, Function, HashOfPlace> functions_;
  std::set<pid_t> takers_;
  double takers_since_s_ = -1;  // when the first was found; -1: none
  size_t next_thread_ = 0;

  std::unique_ptr<CpuSampler> sampler_;
  bool tried_ = false;
  std::string why_not_;
  std::optional<NativeKind> main_last_;
  std::map<NativeKind, int64_t> others_recent_;
  struct Counted {
    bool main_thread, input;
    NativeKind kind;
    std::string library, function;
    auto operator<=>(const Counted&) const = default;
  };
  std::map<Counted, int64_t> counts_;
  int64_t samples_ = 0, whole_ = 0, input_samples_ = 0, decode_samples_ = 0;
  int64_t main_samples_ = 0, main_waits_ = 0, main_uploads_ = 0;
};

}  // namespace headway
