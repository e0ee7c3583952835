#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "headway/core/error.h"
#include "headway/core/sync.h"
#include "headway/data/options.h"

namespace headway {

// One skipped sample.
struct SkipEntry {
  std::string file;
  int64_t offset = -1;
  std::string reason;
};

// The count of what was skipped, and the file that lists it: one JSON object a line with file,
// offset and reason, flushed line by line, so that a killed run keeps what it wrote.
class SkipLog {
 public:
  explicit SkipLog(ErrorPolicy policy);
  ~SkipLog();
  SkipLog(const SkipLog&) = delete;

  // While one of these lives, this thread's notes and counts are dropped: a position is being
  // restored by replay, and what was skipped on the way was noted the first time.
  class Replay {
   public:
    Replay() { ++replaying(); }
    ~Replay() { --replaying(); }
    Replay(const Replay&) = delete;
  };

  // Notes a bad sample, in the order of the stream. Throws when the budget is spent.
  void note(std::exception_ptr error) HEADWAY_EXCLUDES(mu_);
  void count_good(int64_t samples) HEADWAY_EXCLUDES(mu_);

  int64_t skipped() const HEADWAY_EXCLUDES(mu_);
  void restore(int64_t skipped, int64_t seen) HEADWAY_EXCLUDES(mu_);
  int64_t seen() const HEADWAY_EXCLUDES(mu_);
  const ErrorPolicy& policy() const { return policy_; }

  // The entries of a skip log file; a half-written last line is left out.
  static std::vector<SkipEntry> read(const std::string& path);

 private:
  static int& replaying();

  const ErrorPolicy policy_;
  mutable Mutex mu_;
  std::FILE* file_ HEADWAY_GUARDED_BY(mu_) = nullptr;
  int64_t skipped_ HEADWAY_GUARDED_BY(mu_) = 0;
  int64_t seen_ HEADWAY_GUARDED_BY(mu_) = 0;
};

}  // namespace headway
