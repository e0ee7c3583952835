#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "headway/core/clock.h"
#include "headway/core/element.h"
#include "headway/core/event_count.h"
#include "headway/core/sync.h"

namespace headway {

class Stage;

// What a worker is doing right now, for the report of a pipeline that does not move.
class WorkerActivity {
 public:
  struct Snapshot {
    std::string stage, op, file;
    int64_t since_ns = 0;  // 0: idle
  };

  void begin(const std::string& stage) HEADWAY_EXCLUDES(mu_);
  void set_op(const std::string* op) { op_.store(op, std::memory_order_relaxed); }
  void set_file(const std::string* file) HEADWAY_EXCLUDES(mu_);  // null: none
  void end() HEADWAY_EXCLUDES(mu_);
  Snapshot snapshot() const HEADWAY_EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  const std::string* stage_ HEADWAY_GUARDED_BY(mu_) = nullptr;
  std::string file_ HEADWAY_GUARDED_BY(mu_);
  std::atomic<int64_t> since_ns_{0};
  std::atomic<const std::string*> op_{nullptr};
};

// One worker: a thread, or the consumer itself when the pipeline has none.
struct Worker {
  explicit Worker(int number) : number(number) {}
  const int number;
  WorkerActivity activity;
  std::atomic<int64_t> busy_ns{0};  // inside stages, up to the last finished piece of work
  std::atomic<int> tid{0};          // kernel thread, once it runs

  // Scratch of Stage: what it pulled from a stream, and the sample at hand.
  struct Input {
    Element element;
    std::exception_ptr error;
  };
  std::vector<Input> inputs;
  Element sample;
};

// The threads of one pipeline. Each takes the ready work nearest to the consumer; when there is
// none it sleeps until something has happened anywhere (an output taken, an output ready).
//
// Stages come and go while it runs (an interleave opens one per file).
class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool() { stop(); }

  // Raises or lowers the number of active workers; threads are started as needed and parked, not
  // ended, when there are too many.
  void set_threads(int threads) HEADWAY_EXCLUDES(mu_);
  int threads() const { return active_.load(std::memory_order_relaxed); }

  void add(std::shared_ptr<Stage> stage) HEADWAY_EXCLUDES(mu_);
  void remove(const Stage* stage) HEADWAY_EXCLUDES(mu_);
  std::vector<std::shared_ptr<Stage>> stages() const HEADWAY_EXCLUDES(mu_);
  std::vector<Worker*> workers() const HEADWAY_EXCLUDES(mu_);

  // Notified when waiting work may have become ready: one worker, which wakes the next when there
  // is more than it can take.
  EventCount work;
  EventCount output;  // notified when the consumer may find something

  // Runs one piece of work in the calling thread, if there is any ready.
  bool help(Worker& self);

  // Called by workers between two pieces of work, at most once per interval: the tuner's clock.
  void set_tick(std::function<void()> tick) { tick_ = std::move(tick); }

  // Lets every worker finish what it has in hand and joins all threads. Nothing runs afterwards.
  void stop() HEADWAY_EXCLUDES(mu_);

 private:
  void run(Worker& self);
  void maybe_tick();

  EventCount parked_;  // for workers above the number that is active
  mutable Mutex mu_;
  std::atomic<int> active_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> generation_{0};  // of stages_
  std::vector<std::shared_ptr<Stage>> stages_
      HEADWAY_GUARDED_BY(mu_);  // nearest to the consumer first
  std::vector<std::unique_ptr<Worker>> workers_ HEADWAY_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ HEADWAY_GUARDED_BY(mu_);
  std::function<void()> tick_;
  std::atomic<int64_t> next_tick_ns_{0};
  std::atomic<bool> ticking_{false};
};

}  // namespace headway
