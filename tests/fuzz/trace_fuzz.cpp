// Any bytes as a trace: a Trace or an Error that names the file, and what was read is written and
// read again as the same. The first byte chooses: bit 0 to put the first line before them.
#include <cstdint>
#include <sstream>

#include "headway/core/error.h"
#include "headway/trace/trace_file.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::MemoryFile;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string version = std::to_string(kTraceVersion);
  std::string text =
      data[0] & 1 ? "{\"kind\":\"headway-trace\",\"version\":" + version + "}\n" : "";
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    std::istringstream in(text);
    const Trace trace = parse_trace(in, "fuzz");
    const MemoryFile once, twice;
    write_trace(once.path(), trace);
    const Trace again = read_trace(once.path());
    require(again.samples.size() == trace.samples.size());
    require(again.outside.stacks.size() == trace.outside.stacks.size() || !trace.outside.seen);
    write_trace(twice.path(), again);
    require(once.bytes() == twice.bytes());
  } catch (const Error& e) {
    require(e.problem().find("fuzz") == 0);
    require(e.problem().find("json.exception") == std::string::npos);
  }
  return 0;
}
