#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headway/io/images/jpeg.h"

namespace headway::bench {

// T1: JPEG, shorter side to 256, centre crop 224, normalise, float32 CHW, batch 64.
// T2: JPEG, random resized crop 224, random flip, normalise, float32 CHW, batch 64.
// T3: PNG, resize to 64x64, /255, float32 CHW, batch 16.
enum class Task { kT1, kT2, kT3 };

struct LimitOptions {
  Task task = Task::kT1;
  DecodeMode mode = DecodeMode::kExact;
  std::vector<std::string> paths;
  int threads = 2;
  double seconds = 3;  // stop after this long,
  int64_t passes = 0;  // or after so many passes over the files
  uint64_t seed = 1;
};

struct LimitResult {
  double images_per_s = 0;
  double cpu_ms_per_image = 0;
  double first_batch_ms = 0;
  int64_t images = 0;
  double seconds = 0;
};

// The bare loop that no pipeline can beat: every file opened and read into a reused buffer inside
// the loop, one decoder and one scratch per thread, two batch buffers allocated once, images handed
// out by an atomic counter. No queue, no order, no error policy: a bad file throws.
LimitResult run_limit(const LimitOptions& options);

// kT1: "t1" ...
std::string_view name_of(Task task);
int batch_of(Task task);

}  // namespace headway::bench
