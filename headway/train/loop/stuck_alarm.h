#pragma once

#include <string>

#include "headway/train/loop/training_feed.h"

// Inside train/: what to do when a run makes no progress.
namespace headway {

// Called on the recorder's thread, repeatedly while nothing moves. When the doctor calls the run
// stuck, reports it and does what the user chose.
class StuckAlarm {
 public:
  // `feed` must outlive it.
  StuckAlarm(WhenStuck when_stuck, TrainingFeed& feed) : when_stuck_(when_stuck), feed_(feed) {}

  void operator()(const Trace& trace, const std::string& waits) const;

 private:
  WhenStuck when_stuck_;
  TrainingFeed& feed_;
};

}  // namespace headway
