#pragma once

#include <atomic>
#include <cstdint>

namespace headway {

// What this process has asked of file systems through Headway, and how long it waited for them.
struct FileCounters {
  std::atomic<int64_t> opens{0}, open_ns{0};
  std::atomic<int64_t> reads{0}, read_ns{0}, read_bytes{0};
};

inline FileCounters& file_counters() {
  static FileCounters counters;
  return counters;
}

}  // namespace headway
