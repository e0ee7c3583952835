#pragma once

#include <string>
#include <string_view>

#include "headway/trace/outside.h"

namespace headway {

// Reads a training program's output as it comes: progress lines of Keras, tqdm, Lightning and plain
// prints, TensorFlow's own remarks, tracebacks. Pure: the time is given.
//
//   OutputReader reader;
//   reader.take("Epoch 1/10\n 12/31 ... 110ms/step - loss: 1.2\r", 3.5);
//   reader.progress().step  // 12
class OutputReader {
 public:
  // `bytes` came at `now_s`; `errors`: on standard error.
  void take(std::string_view bytes, double now_s, bool errors = false);
  // So much came and was not seen: the line it began or ended in is not read.
  void lose(int64_t bytes, double now_s, bool errors = false);

  const SeenProgress& progress() const { return progress_; }
  const SeenOutput& output() const { return output_; }

 private:
  void take_line(std::string line, double now_s);
  bool keras_line(const std::string& line, double now_s);
  bool tqdm_line(const std::string& line, double now_s);
  bool plain_line(const std::string& line, double now_s);
  void remark(const std::string& line, double now_s);
  void traceback_line(const std::string& line);
  void at_step(int64_t epoch, int64_t step, int64_t of, double now_s);
  void loss_in(const std::string& line);

  SeenProgress progress_{.source = ProgressSource::kOutput};
  SeenOutput output_{.watched = true};
  std::string partial_[2];  // standard output and standard error
  bool torn_[2] = {};       // what is left of a line that was not seen whole
  bool in_traceback_ = false;
  bool learns_length_ = false;  // Keras was not told how many steps an epoch has
  int64_t last_epoch_ = 0, last_step_ = 0;
};

// Without colours and cursor movements.
std::string without_escapes(std::string_view text);

}  // namespace headway
