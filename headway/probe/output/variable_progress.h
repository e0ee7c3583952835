#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "headway/probe/output/loss_words.h"
#include "headway/trace/outside.h"

namespace headway {

// How far a run is, judged by variables of its training thread: a whole number with a known name
// that changes is taken for its step count. For programs whose output does not say.
class VariableProgress {
 public:
  // What is known about the functions whose variables are read.
  struct Loops {
    std::set<std::string> stepping{};  // functions that were seen to make steps
    bool framework = false;            // there is one, so that steps can be recognised
  };
  // `values`: of the training thread, innermost frame first.
  void take(const std::vector<SeenValue>& values, const Loops& loops, double now_s);
  const SeenProgress& progress() const { return progress_; }
  const LossSeries& losses() const { return losses_; }

 private:
  struct Counter {
    int64_t last = 0, changes = 0;
    double rises_since_s = 0;
    int64_t rises = 0, risen = 0;  // since then, how often and by how much
    int64_t stride = 0;            // all its values are multiples of this
  };
  struct Found {
    std::string key{};
    size_t rank = 0;
    int64_t step = 0, stride = 1;
  };
  bool is_believed(const SeenValue& value, const Counter& counter, const Loops& loops,
                   double now_s) const;
  void note_facts(const SeenValue& value, int64_t number);
  void count(const Found& found, double now_s);
  void take_loss(const std::vector<SeenValue>& values, double now_s);

  std::map<std::string, Counter> counters_;  // by function and variable name
  std::string chosen_{};
  size_t chosen_rank_ = 0;
  double chosen_s_ = 0;  // when it was last seen
  SeenProgress progress_{.source = ProgressSource::kVariables};
  LossSeries losses_;
  double last_loss_ = 0;
  int64_t last_loss_step_ = -1;
};

}  // namespace headway
