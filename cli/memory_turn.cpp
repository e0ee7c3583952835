#include "cli/memory_turn.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>

#include "headway/core/limits.h"

namespace headway::cli {
namespace {

constexpr int64_t kSmall = 32 << 20;

struct Shared {
  const int64_t limit_bytes = read_limits().memory_bytes / 2;
  std::mutex mu;
  std::condition_variable done;
  int64_t used_bytes = 0;
};

Shared& shared() {
  static Shared shared;
  return shared;
}

}  // namespace

MemoryTurn::MemoryTurn(int64_t bytes, const Origin& origin) : bytes_(bytes < kSmall ? 0 : bytes) {
  if (bytes_ == 0) return;
  Shared& all = shared();
  if (bytes_ > all.limit_bytes) {
    throw SampleError(origin,
                      fmt::format("decoding this image takes up to {} MB of memory, but only half "
                                  "of the available memory may be used, {} MB",
                                  bytes_ >> 20, all.limit_bytes >> 20),
                      "make this image smaller first, or convert on a machine with more memory");
  }
  std::unique_lock lock(all.mu);
  all.done.wait(lock,
                [&] { return all.used_bytes == 0 || all.used_bytes + bytes_ <= all.limit_bytes; });
  all.used_bytes += bytes_;
}

MemoryTurn::~MemoryTurn() {
  if (bytes_ == 0) return;
  {
    const std::lock_guard lock(shared().mu);
    shared().used_bytes -= bytes_;
  }
  shared().done.notify_all();
}

}  // namespace headway::cli
