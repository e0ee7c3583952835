#pragma once

#include <atomic>
#include <cstdint>

namespace headway {

// What was asked of file systems.
struct FileReading {
  int64_t opens = 0, reads = 0, bytes = 0;
  double open_s = 0, read_s = 0;  // all threads together

  FileReading operator-(const FileReading& earlier) const {
    return {opens - earlier.opens, reads - earlier.reads, bytes - earlier.bytes,
            open_s - earlier.open_s, read_s - earlier.read_s};
  }
};

// What this process has asked of file systems through Headway, and how long it waited for them.
struct FileCounters {
  std::atomic<int64_t> opens{0}, open_ns{0};
  std::atomic<int64_t> reads{0}, read_ns{0}, read_bytes{0};

  FileReading now() const {
    return {opens, reads, read_bytes, 1e-9 * double(open_ns), 1e-9 * double(read_ns)};
  }
};

inline FileCounters& file_counters() {
  static FileCounters counters;
  return counters;
}

}  // namespace headway
