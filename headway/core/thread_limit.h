#pragma once

#include <cstdint>
#include <string>

namespace headway {

// Starts `count` threads, all alive at once, and lets them end again: about 20 us each. Error when
// they cannot be had, with the limit that is in the way and how to raise it. Libraries that keep a
// pool of threads (OpenMP, OpenBLAS) hang or end the process when theirs cannot be started, so ask
// before they do.
//
//   require_threads(6, "training");
void require_threads(int count, const std::string& purpose);

// The same for addresses, which only `ulimit -v` limits: Error when fewer than `bytes` are left.
// Numerical libraries that get none hang or crash instead of saying so.
void require_addresses(int64_t bytes, const std::string& purpose);

// The limits on threads as they are now, the tightest first: "ulimit -u is 40, and 39 processes
// and threads of user 1000 are there". `missing`: so many more are wanted.
std::string thread_limits(int missing);

}  // namespace headway
