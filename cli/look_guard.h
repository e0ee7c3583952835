#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace headway::cli {

// A process can make whoever reads it wait: its memory may lie in a file system of its own (FUSE),
// or be filled in by itself (userfaultfd), or not at all. The kernel then holds the reader for as
// long as it likes, deaf to Ctrl-C. Here another thread looks at the clock: a look that has not
// come back after `limit_s` is given up, and the program with it.
//
//   LookGuard guard(5, [&] { screen.close(); });
//   guard.during([&] { watcher.look(); });
class LookGuard {
 public:
  // `last_words` is called on the other thread; then it is said why, and the exit status is 4.
  LookGuard(double limit_s, std::function<void()> last_words);
  ~LookGuard();
  LookGuard(const LookGuard&) = delete;

  template <typename Look>
  auto during(Look look) {
    const Armed armed(*this);
    return look();
  }

 private:
  struct Armed {
    explicit Armed(LookGuard& guard) : guard(guard) { guard.arm(true); }
    ~Armed() { guard.arm(false); }
    LookGuard& guard;
  };
  void arm(bool on);
  void keep_watch();

  const double limit_s_;
  const std::function<void()> last_words_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool armed_ = false, over_ = false;
  int64_t since_ns_ = 0;
  std::thread thread_;
};

}  // namespace headway::cli
