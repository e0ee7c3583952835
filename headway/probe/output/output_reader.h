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

// Reads a training program's output as it arrives: progress lines of Keras, tqdm, Lightning and
// plain prints, TensorFlow's own messages, tracebacks. Pure: the caller gives the time.
//
//   OutputReader reader;
//   reader.take("Epoch 1/10\n 12/31 ... 110ms/step - loss: 1.2\r", 3.5);
//   reader.progress().step  // 12
class OutputReader {
 public:
  // `bytes` arrived at `now_s`; `errors`: on standard error.
  void take(std::string_view bytes, double now_s, bool errors = false);
  // So many bytes were missed: the lines in which the gap begins and ends are not read.
  void lose(int64_t bytes, double now_s, bool errors = false);

  const SeenProgress& progress() const { return progress_; }
  const SeenOutput& output() const { return output_; }
  const LossSeries& losses() const { return losses_; }
  // Steps since the watch began, counted elsewhere; for lines that tell a loss but no step.
  void steps_are(int64_t steps) { other_steps_ = steps; }
  // Whether the program uses a framework. If not, any line with a count shows progress; else the
  // line must tell a loss, too.
  void framework(bool used) { framework_ = used; }
  // The program ran before the watch began: the count in its first line includes earlier steps.
  void joins_late() {
    joins_late_ = true;
    told_every_ = std::numeric_limits<int64_t>::max();
  }
  // While the training thread validates, bars and losses are not about training.
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
  double partial_s_[2] = {};  // when the last part of it arrived
  std::string partial_[2];    // standard output and standard error
  bool torn_[2] = {};         // the rest of a line that was not seen whole
  bool in_traceback_ = false;
  bool learns_length_ = false;  // Keras does not know how many steps an epoch has
  bool validating_ = false;
  bool framework_ = true;
  bool joins_late_ = false;
  int64_t last_epoch_ = 0, last_step_ = 0;
  std::optional<int64_t> last_batch_{};  // from "batch 32" without a loss beside it
  std::map<std::pair<int64_t, int64_t>, int64_t>
      bars_;  // tqdm's by epoch and length: the last step
  LineCounters counters_;
  // The last text in tqdm's bar (its loss, say), at which step, and how many apart; -1: unknown.
  std::string told_by_bar_{};
  int64_t told_at_ = 0, told_every_ = -1;
};

// Removes colours and cursor movements.
std::string without_escapes(std::string_view text);

}  // namespace headway
