#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "headway/train/loop/history.h"
#include "headway/train/model/model.h"

// Inside train/: what a person sees of a training run, on standard error.
namespace headway {

// Phases on one line, then a line per epoch that is redrawn on a terminal:
//
//   first batch (0.1 s) · building (0.4 s) · first step (0.8 s)
//   epoch 1/5  200/200  ====================  41 ms/step  loss 1.932  waiting for data 2%
//
// Use from one thread.
class TrainingView {
 public:
  explicit TrainingView(Show show);
  TrainingView(const TrainingView&) = delete;
  ~TrainingView();  // ends the current line, after an exception too

  // Shows what begins now; the next call shows how long it took.
  void phase(const std::string& name);
  void phases_done();
  const std::string& current_phase() const { return phase_; }

  void epoch_begin(int64_t epoch, int64_t epochs, int64_t steps);  // steps < 0: not known
  // Draws when it is time; `logs` is called only then.
  void step(int64_t step, const StepTimes& times, const std::function<Logs()>& logs);
  void epoch_end(int64_t step, const StepTimes& times, const Logs& logs);
  // A line of its own, whatever is being drawn.
  void say(const std::string& text);

 private:
  std::string line(int64_t step, const StepTimes& times, const Logs& logs, bool done) const;
  void redraw(const std::string& text);
  void clear();

  bool visible_ = false, live_ = false, drawn_ = false;
  std::string phase_;
  int64_t phase_since_ns_ = 0;
  bool first_phase_ = true;
  int64_t epoch_ = 0, epochs_ = 0, steps_ = 0, first_step_ = -1;
  int64_t epoch_since_ns_ = 0, next_draw_ns_ = 0;
  StepTimes at_begin_;
};

}  // namespace headway
