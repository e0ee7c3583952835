#pragma once

#include <string>

#include "headway/train/loop/training_feed.h"

// Inside train/: what is done about a run that stands still.
namespace headway {

// Called on the recorder's thread, again and again while nothing moves. When the doctor calls the
// run stuck: says so, and does what the user chose.
class StuckAlarm {
 public:
  // `feed` outlives it.
  StuckAlarm(WhenStuck when_stuck, TrainingFeed& feed) : when_stuck_(when_stuck), feed_(feed) {}

  void operator()(const Trace& trace, const std::string& waits) const;

 private:
  WhenStuck when_stuck_;
  TrainingFeed& feed_;
};

}  // namespace headway
