// A program for native_targets_test: compiled separately, stripped or static, without sanitizers.
//   native_target wait | burn | generated | threads NUMBER
// It says "ready" and then does so forever.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
__attribute__((noinline)) void target_waits() {
  for (;;) pause();
}
__attribute__((noinline)) void target_burns() {
  volatile unsigned turns = 0;
  for (;;) {
    const unsigned next = turns + 1;
    turns = next;
  }
}
// Two bytes of code that jump to themselves, in memory that belongs to no file.
__attribute__((noinline)) void target_generates() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) std::abort();
  static constexpr unsigned char kJumpToItself[] = {0xeb, 0xfe};
  std::memcpy(page, kJumpToItself, sizeof kJumpToItself);
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) std::abort();
  reinterpret_cast<void (*)()>(page)();
}
void* sleeper(void*) {
  target_waits();
  return nullptr;
}
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  const bool threads = std::strcmp(what, "threads") == 0 && count > 2;
  int started = 0;
  if (threads) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_t thread;
    for (int i = std::atoi(words[2]); i > 0; --i)
      started += pthread_create(&thread, &small, sleeper, nullptr) == 0;
  }
  dprintf(STDOUT_FILENO, "ready %d\n", started);
  if (std::strcmp(what, "generated") == 0) target_generates();
  if (std::strcmp(what, "burn") == 0 || threads) target_burns();
  target_waits();
}
