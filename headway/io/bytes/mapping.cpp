#include "headway/io/bytes/mapping.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

namespace headway {
namespace {

const auto kPage = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));  // 4 KB is common, not law
constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, for headers that do not know it yet

// What is mapped just now, readable from inside a signal handler. A free place has begin 0; one
// that is being filled has end 0.
struct Range {
  std::atomic<uintptr_t> begin{0}, end{0};
};
std::array<Range, 4096> g_ranges;
std::atomic<bool> g_told{false};
struct sigaction g_before;

bool is_mapped(uintptr_t address) {
  for (const Range& range : g_ranges)
    if (address >= range.begin.load() && address < range.end.load()) return true;
  return false;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if (g_before.sa_flags & SA_SIGINFO) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  } else {
    sigaction(signal, &g_before, nullptr);
    raise(signal);
  }
}

void on_missing_page(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (!is_mapped(address)) return pass_on(signal, info, context);
  void* const page = reinterpret_cast<void*>(address & ~(kPage - 1));
  if (mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    return pass_on(signal, info, context);
  if (g_told.exchange(true)) return;
  static constexpr char kWords[] =
      "headway: a file was cut short while it was being read; zeros stand for what is gone\n";
  [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, kWords, sizeof kWords - 1);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_missing_page;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &g_before);
  });
}

Range* enter(uintptr_t begin, size_t size_bytes) {
  static std::atomic<size_t> next{0};
  for (size_t i = 0; i < g_ranges.size(); ++i) {
    Range& range = g_ranges[next.fetch_add(1) % g_ranges.size()];
    uintptr_t free = 0;
    if (!range.begin.compare_exchange_strong(free, begin)) continue;
    range.end = begin + size_bytes;
    return &range;
  }
  return nullptr;
}

void leave(Range& range) {
  range.end = 0;
  range.begin = 0;
}

}  // namespace

Storage* map_file(int fd, uint64_t offset, size_t size_bytes) {
  const uint64_t from = offset & ~uint64_t{kPage - 1};
  const size_t length = size_bytes + size_t(offset - from);
  void* const memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, off_t(from));
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, length, MADV_SEQUENTIAL);
  Range* const range = enter(reinterpret_cast<uintptr_t>(memory), length);
  // Fails, instead of killing, where the file ends before.
  if (!range || madvise(memory, length, kPopulateRead) != 0) {
    if (range) leave(*range);
    munmap(memory, length);
    return nullptr;
  }
  install_handler();
  return Storage::adopt(static_cast<char*>(memory) + (offset - from), size_bytes,
                        [memory, length, range](void*, size_t) {
                          leave(*range);
                          munmap(memory, length);
                        });
}

}  // namespace headway
