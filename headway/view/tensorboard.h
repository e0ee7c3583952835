#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headway/io/records/tfrecord_writer.h"
#include "headway/trace/trace.h"

namespace headway {

// Scalars for TensorBoard: one event file in `folder`, which is created if needed. The file is a
// TFRecord file of tf.Event. Every failure throws; call close(). Call from one thread.
//
//   EventWriter events("logs/run1");
//   events.scalar("loss/training", step, loss, wall_time_s);
//   events.flush();                        // TensorBoard sees it from here on
class EventWriter {
 public:
  explicit EventWriter(const std::string& folder);

  // `wall_time_s`: seconds since 1970. TensorBoard keeps 32 bits of the value.
  void scalar(std::string_view tag, int64_t step, double value, double wall_time_s);
  void flush() { file_.flush(); }
  void close() { file_.close(); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  TFRecordWriter file_;
};

// Everything from series_of(): "loss/training", "step_time/waiting_for_data", "cores/used" ..., and
// where the time of the steps went as "share_of_step/forward". `begun_s`: when the run began, in
// seconds since 1970; a trace only has times relative to that.
void write_events(EventWriter& events, const Trace& trace, double begun_s);

}  // namespace headway
