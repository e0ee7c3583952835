// Any bytes as a skip log: its entries, or an Error that names file and line.
#include <cstdint>

#include "headway/data/skip_log.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::MemoryFile;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    require(SkipLog::read(file.path()).size() <= size);
  } catch (const Error& e) {
    require(e.problem().find(file.path() + ":") == 0 && !e.hint().empty());
  }
  return 0;
}
