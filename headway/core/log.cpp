#include "headway/core/log.h"

#include <utility>

#include "headway/core/print.h"
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
  print_lines(stderr, fmt::format("headway: {}{}\n", level == LogLevel::kWarning ? "warning: " : "",
                                  visible_message(text)));
}

}  // namespace headway
