#include "headway/data/worker_pool.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "headway/data/stage.h"

namespace headway {
namespace {

constexpr int64_t kTickNs = 100'000'000;
constexpr int64_t kNapNs = 200'000'000;  // a bound on any one sleep

}  // namespace

void WorkerActivity::begin(const std::string& stage) {
  since_ns_.store(now_ns(), std::memory_order_relaxed);
  MutexLock lock(mu_);
  stage_ = &stage;
}

void WorkerActivity::set_file(const std::string* file) {
  since_ns_.store(now_ns(), std::memory_order_relaxed);
  MutexLock lock(mu_);
  if (file) {
    file_ = *file;
  } else {
    file_.clear();
  }
}

void WorkerActivity::end() {
  since_ns_.store(0, std::memory_order_relaxed);
  op_.store(nullptr, std::memory_order_relaxed);
  MutexLock lock(mu_);
  stage_ = nullptr;
  file_.clear();
}

WorkerActivity::Snapshot WorkerActivity::snapshot() const {
  MutexLock lock(mu_);
  Snapshot s;
  if (!stage_) return s;
  const std::string* op = op_.load(std::memory_order_relaxed);
  s.stage = *stage_;
  s.op = op ? *op : "";
  s.file = file_;
  s.since_ns = since_ns_.load(std::memory_order_relaxed);
  return s;
}

void WorkerPool::set_threads(int threads) {
  {
    MutexLock lock(mu_);
    if (stopping_) return;
    active_ = threads;
    while (static_cast<int>(threads_.size()) < threads) {
      workers_.push_back(std::make_unique<Worker>(static_cast<int>(workers_.size())));
      try {
        threads_.emplace_back([this, self = workers_.back().get()] { run(*self); });
      } catch (const std::system_error&) {  // no more threads to be had: fewer will do
        workers_.pop_back();
        if (threads_.empty()) throw;
        active_ = static_cast<int>(threads_.size());
        break;
      }
    }
  }
  work.notify_all();  // those that are too many go and park
  parked_.notify_all();
}

void WorkerPool::add(std::shared_ptr<Stage> stage) {
  {
    MutexLock lock(mu_);
    const auto deeper = [](const auto& a, const auto& b) { return a->depth() < b->depth(); };
    stages_.insert(std::upper_bound(stages_.begin(), stages_.end(), stage, deeper), stage);
    generation_.fetch_add(1);
  }
  work.notify_one();
}

void WorkerPool::remove(const Stage* stage) {
  std::shared_ptr<Stage> last;  // dropped outside of the lock
  MutexLock lock(mu_);
  const auto it =
      std::find_if(stages_.begin(), stages_.end(), [&](const auto& s) { return s.get() == stage; });
  if (it == stages_.end()) return;
  last = std::move(*it);
  stages_.erase(it);
  generation_.fetch_add(1);
}

std::vector<std::shared_ptr<Stage>> WorkerPool::stages() const {
  MutexLock lock(mu_);
  return stages_;
}

std::vector<Worker*> WorkerPool::workers() const {
  MutexLock lock(mu_);
  std::vector<Worker*> workers;
  for (const auto& w : workers_) workers.push_back(w.get());
  return workers;
}

bool WorkerPool::help(Worker& self) {
  for (const auto& stage : stages()) {
    if (stage->try_work(self)) return true;
  }
  return false;
}

void WorkerPool::run(Worker& self) {
  self.tid = gettid();
  pthread_setname_np(pthread_self(),
                     ("hw-feed-" + std::to_string(self.number)).substr(0, 15).c_str());
  std::vector<std::shared_ptr<Stage>> stages;
  uint64_t generation = ~uint64_t{0};
  while (!stopping_.load(std::memory_order_relaxed)) {
    const uint64_t parked = parked_.ticket();
    if (self.number >= threads()) {
      stages.clear();
      generation = ~uint64_t{0};
      parked_.wait(parked, kNapNs);
      continue;
    }
    const uint64_t seen = work.ticket();
    if (generation != generation_.load()) {
      stages.clear();  // may end a stage here, outside of the lock
      generation = generation_.load();
      stages = this->stages();
    }
    bool worked = false;
    for (const auto& stage : stages) {
      if ((worked = stage->try_work(self))) break;
    }
    maybe_tick();
    if (worked) continue;
    stages.clear();  // hold on to nothing while asleep
    generation = ~uint64_t{0};
    work.wait(seen, kNapNs);
  }
}

void WorkerPool::maybe_tick() {
  if (!tick_) return;
  const int64_t now = now_ns();
  if (now < next_tick_ns_.load(std::memory_order_relaxed) || ticking_.exchange(true)) return;
  next_tick_ns_.store(now + kTickNs, std::memory_order_relaxed);
  tick_();
  ticking_.store(false);
}

void WorkerPool::stop() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    threads.swap(threads_);
  }
  work.notify_all();
  parked_.notify_all();
  for (std::thread& t : threads) t.join();
  std::vector<std::shared_ptr<Stage>> stages;
  MutexLock lock(mu_);
  stages.swap(stages_);
}

}  // namespace headway
