#include "headway/core/log.h"

#include <cstdio>
#include <utility>

#include "headway/core/sync.h"

namespace headway {
namespace {

Mutex mu;
LogSink& current() {
  static LogSink sink;
  return sink;
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  MutexLock lock(mu);
  return std::exchange(current(), std::move(sink));
}

void log(LogLevel level, const std::string& text) {
  MutexLock lock(mu);
  if (current()) return current()(level, text);
  std::fprintf(stderr, "headway: %s%s\n", level == LogLevel::kWarning ? "warning: " : "",
               text.c_str());
}

}  // namespace headway
