#pragma once

#include <map>
#include <string>
#include <vector>

#include "headway/core/clock.h"
#include "headway/observe/trace_recorder.h"
#include "headway/train/loop/callback.h"

// Inside train/: the callbacks of a run.
namespace headway {

class CallbackList {
 public:
  // Error when two have the same name.
  explicit CallbackList(std::vector<CallbackPtr> callbacks);

  std::vector<std::string> names() const;
  bool want_batches() const { return want_batches_; }

  auto begin() const { return callbacks_.begin(); }
  auto end() const { return callbacks_.end(); }
  // `call(callback)` for each, in order; the recorder is told how long each took.
  template <typename F>
  void call_timed(TraceRecorder& recorder, F&& call) const {
    int64_t begun = now_ns();
    for (size_t i = 0; i < callbacks_.size(); ++i) {
      call(*callbacks_[i]);
      const int64_t now = now_ns();
      recorder.callback_time(i, now - begun);
      begun = now;
    }
  }

  // What each one needs after a resume, by its name. One without an entry starts new.
  std::map<std::string, std::string> save() const;
  void restore(const std::map<std::string, std::string>& saved) const;

 private:
  std::vector<CallbackPtr> callbacks_;
  bool want_batches_ = false;
};

}  // namespace headway
