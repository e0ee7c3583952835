#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "headway/train/loop/history.h"

namespace headway {

// A training run as its callbacks see it.
class Training {
 public:
  virtual ~Training() = default;

  virtual int64_t epoch() const = 0;   // 0 is the first
  virtual int64_t epochs() const = 0;  // how many are planned
  virtual int64_t step() const = 0;    // steps since training began, before a resume too
  virtual double learning_rate() const = 0;
  virtual void scale_learning_rate(double factor) = 0;  // on top of the schedule, from now on
  // Ends training after this step or epoch; the reason is shown and kept in the history.
  virtual void stop(const std::string& reason) = 0;
  // Keeps a copy of the weights (in checkpoints too), and restores it.
  virtual void remember_weights() = 0;
  virtual bool recall_weights() = 0;  // false: none were remembered
  virtual void save_weights(const std::string& path) const = 0;
  // Shown at once, between two progress lines, and kept in the history.
  virtual void warn(const std::string& text) = 0;
  // Turns the doctor and its watchdog on or off from the next step, so that one run can measure
  // what they cost. Without telemetry they stay off.
  virtual void watch(bool on) = 0;
};

// Called by the training thread at the named moments. save() returns, as text, what it needs after
// a resume.
class Callback {
 public:
  virtual ~Callback() = default;

  virtual std::string name() const = 0;  // unique among the callbacks of a run
  virtual void on_train_begin(Training&) {}
  virtual void on_epoch_begin(Training&) {}
  // Called only when wants_batches(): on a GPU, reading the loss of each step waits for it.
  virtual void on_batch_end(Training&, double /*loss*/) {}
  virtual bool wants_batches() const { return false; }
  // The loss of `step` is not finite, but the batch is. On the CPU the weights have not moved yet:
  // stop() leaves them as they were.
  virtual void on_bad_loss(Training&, int64_t /*step*/, double /*loss*/) {}
  // May add to the logs.
  virtual void on_epoch_end(Training&, Logs&) {}
  virtual void on_train_end(Training&) {}

  virtual std::string save() const { return ""; }
  virtual void restore(const std::string& /*text*/) {}
};
using CallbackPtr = std::shared_ptr<Callback>;

// Which values are better, by Keras' names: "min", "max", or "auto" (more is better where the name
// says accuracy). Checked by the compiler: {.mode = "max"}.
class MonitorMode {
 public:
  enum Kind : uint8_t { kAuto, kMin, kMax };

  constexpr MonitorMode(Kind kind) : kind_(kind) {}
  consteval MonitorMode(const char* name) : kind_(find(name)) {}

  constexpr Kind kind() const { return kind_; }

 private:
  static constexpr Kind find(std::string_view name) {
    if (name == "auto") return kAuto;
    if (name == "min") return kMin;
    if (name == "max") return kMax;
    throw "mode must be \"auto\", \"min\" or \"max\"";
  }

  Kind kind_;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";  // a name in the logs
  MonitorMode mode = "auto";
  int64_t patience = 0;  // epochs
  double min_delta = 0;
  bool restore_best_weights = false;
};
// Stops when what is monitored has not improved for `patience` epochs.
CallbackPtr EarlyStopping(EarlyStoppingOptions options = {});

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  MonitorMode mode = "auto";
  int64_t patience = 10;
  double min_delta = 1e-4;
  double factor = 0.1;
  double min_learning_rate = 0;
  int64_t cooldown = 0;
};
CallbackPtr ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});

// Writes the weights of the best epoch so far to a file.
struct SaveBestOptions {
  std::string monitor = "val_loss";
  MonitorMode mode = "auto";
  double min_delta = 0;
};
CallbackPtr SaveBest(std::string path, SaveBestOptions options = {});

// One line per epoch: epoch, every value of the logs, learning rate. A resumed run keeps the
// lines of the epochs before.
CallbackPtr CSVLogger(std::string path);

// Stops at the first loss that is NaN or infinite.
CallbackPtr TerminateOnNaN();

// When an epoch begins, `rate(epoch, current rate)` gives its learning rate.
CallbackPtr LearningRateScheduler(std::function<double(int64_t epoch, double rate)> rate);

struct LambdaCallbackOptions {
  std::function<void(Training&)> on_train_begin{};
  std::function<void(Training&)> on_epoch_begin{};
  std::function<void(Training&, double loss)> on_batch_end{};
  std::function<void(Training&, Logs&)> on_epoch_end{};
  std::function<void(Training&)> on_train_end{};
};
CallbackPtr LambdaCallback(LambdaCallbackOptions options);

}  // namespace headway
