#pragma once

#include <atomic>
#include <cstdint>

namespace headway {

// Thrown by work on a sample that needs so much of the budget at once. Whoever runs the sample
// gives it, now or when there is room, and begins the same work again with `granted_bytes` set.
struct NeedsRoom {
  int64_t bytes;
};

// The bytes a pipeline may hold in queues, shuffle buffers, caches and large images at work
// together. Thread-safe.
class RamBudget {
 public:
  explicit RamBudget(int64_t limit_bytes) : limit_(limit_bytes) {}

  // Takes `bytes` if they fit; `always` takes them even so (what cannot be done without).
  bool reserve(int64_t bytes, bool always = false) {
    if (bytes == 0) return true;
    if (used_.fetch_add(bytes) + bytes <= limit_ || always) return note_peak();
    used_.fetch_sub(bytes);
    return false;
  }
  void release(int64_t bytes) {
    if (bytes != 0) used_.fetch_sub(bytes);
  }

  int64_t used_bytes() const { return used_; }
  int64_t peak_bytes() const { return peak_; }
  int64_t limit_bytes() const { return limit_; }

 private:
  bool note_peak() {
    const int64_t used = used_.load();
    int64_t peak = peak_.load();
    while (used > peak && !peak_.compare_exchange_weak(peak, used)) {
    }
    return true;
  }

  const int64_t limit_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
};

}  // namespace headway
