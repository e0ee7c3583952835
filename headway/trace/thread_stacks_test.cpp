#include "headway/trace/thread_stacks.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

namespace headway {

// Not in an anonymous namespace, not inlined: the test looks for their names.
__attribute__((noinline)) void wait_at_the_well(std::mutex& mu, std::condition_variable& come,
                                                bool& go) {
  std::unique_lock lock(mu);
  come.wait(lock, [&] { return go; });
}

namespace {

struct Waiters {
  explicit Waiters(int count) {
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this] {
        pthread_setname_np(pthread_self(), "waiter");
        wait_at_the_well(mu, come, go);
      });
    }
    while (standing() < count) std::this_thread::yield();
  }
  ~Waiters() {
    {
      const std::lock_guard lock(mu);
      go = true;
    }
    come.notify_all();
    for (std::thread& t : threads) t.join();
  }
  static int standing() {
    int count = 0;
    for (const ThreadStack& stack : thread_stacks())
      count += stack.name == "waiter" && stack.state.starts_with("sleeping") &&
               stacks_text({stack}).find("wait_at_the_well") != std::string::npos;
    return count;
  }
  std::mutex mu;
  std::condition_variable come;
  bool go = false;
  std::vector<std::thread> threads;
};

TEST(ThreadStacks, NameTheFunctionAThreadWaitsIn) {
  const Waiters waiters(3);
  EXPECT_EQ(Waiters::standing(), 3);
}

TEST(ThreadStacks, ThatAreAlikeAreToldOnce) {
  const std::vector<ThreadStack> stacks = {
      {.thread = 1, .name = "a", .state = "running", .frames = {"work", "main"}},
      {.thread = 2, .name = "b", .state = "running", .frames = {"work", "main"}},
      {.thread = 3, .name = "c", .state = "running", .frames = {}}};
  EXPECT_EQ(stacks_text(stacks),
            "thread 1 \"a\" and 1 more, running\n    work\n    main\n"
            "thread 3 \"c\", running\n    (it did not answer)\n");
}

TEST(ThreadStacks, LeaveAProgramsOwnSignalAlone) {
  static int calls;
  calls = 0;
  const auto before = std::signal(SIGURG, [](int) { ++calls; });
  for (const ThreadStack& stack : thread_stacks()) EXPECT_TRUE(stack.frames.empty());
  std::raise(SIGURG);
  EXPECT_EQ(calls, 1);
  std::signal(SIGURG, before);
}

}  // namespace
}  // namespace headway
