#pragma once

#include <functional>
#include <string>

namespace headway {

enum class LogLevel { kInfo, kWarning };

// Where Headway's own messages go: one call per message, from any thread, never concurrently.
// The default writes "headway: <text>" to standard error.
using LogSink = std::function<void(LogLevel, const std::string& text)>;

// Replaces the sink; an empty one restores the default. Returns the sink that was there.
LogSink set_log_sink(LogSink sink);

void log(LogLevel level, const std::string& text);

}  // namespace headway
