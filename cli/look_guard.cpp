#include "cli/look_guard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "cli/complain.h"
#include "cli/watch_report.h"
#include "headway/core/clock.h"

namespace headway::cli {

LookGuard::LookGuard(double limit_s, std::function<void()> last_words)
    : limit_s_(limit_s), last_words_(std::move(last_words)), thread_([this] { keep_watch(); }) {}

LookGuard::~LookGuard() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void LookGuard::arm(bool on) {
  const std::lock_guard lock(mutex_);
  armed_ = on;
  since_ns_ = now_ns();
}

void LookGuard::keep_watch() {
  std::unique_lock lock(mutex_);
  const auto nap = std::chrono::duration<double>(limit_s_ / 10);
  while (!changed_.wait_for(lock, nap, [&] { return over_; })) {
    if (!armed_ || 1e-9 * double(now_ns() - since_ns_) < limit_s_) continue;
    last_words_();
    complain(
        kNotWatched,
        fmt::format("not watched: the process's memory has not answered for {:.0f} s", limit_s_),
        "it waits for a file system (FUSE, NFS), for swap, or it lets nobody read it");
    ::_exit(kNotWatched);
  }
}

}  // namespace headway::cli
