#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "headway/probe/output/line_counters.h"
#include "headway/probe/output/loss_words.h"
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
  const LossSeries& losses() const { return losses_; }
  // Steps since the watch began as counted elsewhere: for losses of lines that count none.
  void steps_are(int64_t steps) { other_steps_ = steps; }
  // Whether the program uses one. Where none does, any line that counts tells of progress; else it
  // must tell a loss, too.
  void framework(bool used) { framework_ = used; }
  // The program ran before it was watched: what its first line counts was not made meanwhile.
  void joins_late() {
    joins_late_ = true;
    told_every_ = std::numeric_limits<int64_t>::max();
  }
  // The training thread validates: bars and losses of now are not of training.
  void validates(bool now) { validating_ = now; }

 private:
  void take_line(std::string line, double now_s);
  bool keras_line(const std::string& line, double now_s);
  bool tqdm_line(const std::string& line, double now_s);
  void plain_line(const std::string& line, double now_s);
  void remark(const std::string& line, double now_s);
  void traceback_line(const std::string& line);
  void at_step(int64_t epoch, int64_t step, int64_t of, double now_s);
  void made(int64_t steps, double now_s);
  void note_loss(const std::string& line, bool bar, double now_s);
  bool is_drawn_again(const std::string& line);
  void note_rate(const std::string& line);

  SeenProgress progress_{.source = ProgressSource::kOutput};
  SeenOutput output_{.watched = true};
  LossSeries losses_;
  int64_t other_steps_ = 0;
  double partial_s_[2] = {};  // when the last of it came
  std::string partial_[2];    // standard output and standard error
  bool torn_[2] = {};         // what is left of a line that was not seen whole
  bool in_traceback_ = false;
  bool learns_length_ = false;  // Keras was not told how many steps an epoch has
  bool validating_ = false;
  bool framework_ = true;
  bool joins_late_ = false;
  int64_t last_epoch_ = 0, last_step_ = 0;
  std::optional<int64_t> last_batch_{};  // told as "batch 32", without a loss beside it
  std::map<std::pair<int64_t, int64_t>, int64_t>
      bars_;  // tqdm's by epoch and length: the last step
  LineCounters counters_;
  // What tqdm's bar was told last (its loss, for one), when, and in how many steps; -1: not known.
  std::string told_by_bar_{};
  int64_t told_at_ = 0, told_every_ = -1;
};

// Without colours and cursor movements.
std::string without_escapes(std::string_view text);

}  // namespace headway
