#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "headway/core/error.h"
#include "headway/io/bytes/output_file.h"
#include "headway/train/loop/callback.h"

namespace headway {
namespace {

// Follows one value of the logs: its best, and for how many epochs it has not improved.
class Monitor {
 public:
  Monitor(std::string name, MonitorMode mode, double min_delta, int64_t patience = 0)
      : name_(std::move(name)), min_delta_(min_delta), patience_(patience) {
    more_ = mode.kind() == MonitorMode::kMax ||
            (mode.kind() == MonitorMode::kAuto && name_.find("accuracy") != std::string::npos);
    best_ =
        more_ ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }

  const std::string& name() const { return name_; }

  // The value when this epoch has one. What is monitored must appear in the first epoch.
  const double* value(const Logs& logs, const std::string& who) {
    const double* value = logs.find(name());
    if (!value && !seen_) {
      std::string names;
      for (const auto& [key, unused] : logs) names += (names.empty() ? "" : ", ") + key;
      throw Error(
          fmt::format("{} monitors '{}', but this training measures no such value", who, name()),
          fmt::format("set .monitor to one of: {}{}", names,
                      name().starts_with("val_")
                          ? "; or set .validation in fit's options, for values that begin with val_"
                          : ""));
    }
    seen_ = true;
    return value;
  }
  // REQUIRES: value() gave `value`.
  bool better(double value) {
    const bool is = more_ ? value > best_ + min_delta_ : value < best_ - min_delta_;
    if (is) best_ = value;
    waited_ = is ? 0 : waited_ + 1;
    return is;
  }
  bool out_of_patience() const { return waited_ > 0 && waited_ >= patience_; }
  void restart_patience() { waited_ = 0; }
  double best() const { return best_; }
  int64_t waited() const { return waited_; }

  std::string save() const { return fmt::format("{:a} {} {}", best_, waited_, seen_ ? 1 : 0); }
  void restore(std::istream& in) {
    std::string best;
    in >> best >> waited_ >> seen_;
    best_ = std::strtod(best.c_str(), nullptr);
  }

 private:
  std::string name_;
  double min_delta_ = 0;
  int64_t patience_ = 0;
  bool more_ = false;
  double best_ = 0;
  int64_t waited_ = 0;
  bool seen_ = false;
};

class EarlyStoppingCallback : public Callback {
 public:
  explicit EarlyStoppingCallback(EarlyStoppingOptions options)
      : options_(options),
        monitor_(options.monitor, options.mode, options.min_delta, options.patience) {}

  std::string name() const override { return "early stopping on " + monitor_.name(); }

  void on_epoch_end(Training& training, Logs& logs) override {
    const double* value = monitor_.value(logs, "EarlyStopping");
    if (!value) return;
    if (monitor_.better(*value)) {
      best_epoch_ = training.epoch();
      if (options_.restore_best_weights) training.remember_weights();
    } else if (monitor_.out_of_patience()) {
      training.stop(fmt::format("{} has not been better than {:.4g} (epoch {}) for {} epochs",
                                monitor_.name(), monitor_.best(), best_epoch_ + 1,
                                monitor_.waited()));
    }
  }

  void on_train_end(Training& training) override {
    if (options_.restore_best_weights) training.recall_weights();
  }

  std::string save() const override { return fmt::format("{} {}", monitor_.save(), best_epoch_); }
  void restore(const std::string& text) override {
    std::istringstream in(text);
    monitor_.restore(in);
    in >> best_epoch_;
  }

 private:
  EarlyStoppingOptions options_;
  Monitor monitor_;
  int64_t best_epoch_ = 0;
};

class PlateauCallback : public Callback {
 public:
  explicit PlateauCallback(ReduceLROnPlateauOptions options)
      : options_(options),
        monitor_(options.monitor, options.mode, options.min_delta, options.patience) {
    if (options.factor <= 0 || options.factor >= 1) {
      throw Error(fmt::format("ReduceLROnPlateau: invalid factor {}", options.factor),
                  "factor must be above 0 and below 1; the learning rate is multiplied by it");
    }
  }

  std::string name() const override { return "reduce on plateau of " + monitor_.name(); }

  void on_epoch_end(Training& training, Logs& logs) override {
    logs.set("learning_rate", training.learning_rate());
    const double* value = monitor_.value(logs, "ReduceLROnPlateau");
    if (!value) return;
    if (cooling_ > 0) {
      --cooling_;
      monitor_.restart_patience();
    }
    if (monitor_.better(*value) || cooling_ > 0 || !monitor_.out_of_patience()) return;
    const double rate = training.learning_rate();
    const double lower = std::max(rate * options_.factor, options_.min_learning_rate);
    monitor_.restart_patience();
    cooling_ = options_.cooldown;
    if (lower < rate) training.scale_learning_rate(lower / rate);
  }

  std::string save() const override { return fmt::format("{} {}", monitor_.save(), cooling_); }
  void restore(const std::string& text) override {
    std::istringstream in(text);
    monitor_.restore(in);
    in >> cooling_;
  }

 private:
  ReduceLROnPlateauOptions options_;
  Monitor monitor_;
  int64_t cooling_ = 0;
};

class SaveBestCallback : public Callback {
 public:
  SaveBestCallback(std::string path, SaveBestOptions options)
      : path_(std::move(path)), monitor_(options.monitor, options.mode, options.min_delta) {}

  std::string name() const override { return "save best to " + path_; }

  void on_epoch_end(Training& training, Logs& logs) override {
    const double* value = monitor_.value(logs, "SaveBest");
    if (!value || !monitor_.better(*value)) return;
    try {
      training.save_weights(path_);
    } catch (const Error& e) {  // a full disk must not end a training
      training.warn("SaveBest could not write the weights: " + e.problem());
    }
  }

  std::string save() const override { return monitor_.save(); }
  void restore(const std::string& text) override {
    std::istringstream in(text);
    monitor_.restore(in);
  }

 private:
  std::string path_;
  Monitor monitor_;
};

class CSVLoggerCallback : public Callback {
 public:
  explicit CSVLoggerCallback(std::string path) : path_(std::move(path)) {}

  std::string name() const override { return "csv " + path_; }

  void on_epoch_end(Training& training, Logs& logs) override {
    if (columns_.empty()) {
      columns_ = "epoch";
      for (const auto& [key, value] : logs) columns_ += "," + key;
      text_ = columns_ + ",learning_rate\n";
    }
    text_ += fmt::format("{}", training.epoch() + 1);
    std::istringstream names(columns_.substr(5));
    std::string key;
    std::getline(names, key, ',');  // before the first comma there is nothing
    while (std::getline(names, key, ',')) {
      const double* value = logs.find(key);
      text_ += value ? fmt::format(",{}", *value) : ",";
    }
    text_ += fmt::format(",{}\n", training.learning_rate());
    try {
      AtomicFile file(path_);
      file.write(text_);
      file.commit();
    } catch (const Error& e) {
      training.warn("CSVLogger could not write the log: " + e.problem());
    }
  }

  std::string save() const override { return columns_ + "\n" + text_; }
  void restore(const std::string& text) override {
    const size_t line = text.find('\n');
    columns_ = text.substr(0, line);
    text_ = text.substr(line + 1);
  }

 private:
  std::string path_, columns_, text_;
};

class TerminateOnNaNCallback : public Callback {
 public:
  std::string name() const override { return "terminate on NaN"; }
  void on_bad_loss(Training& training, int64_t step, double loss) override {
    training.stop(fmt::format("the loss is {} in step {}", loss, step));
  }
};

class LearningRateCallback : public Callback {
 public:
  explicit LearningRateCallback(std::function<double(int64_t, double)> rate)
      : rate_(std::move(rate)) {}

  std::string name() const override { return "learning rate scheduler"; }
  void on_epoch_begin(Training& training) override {
    const double now = training.learning_rate();
    const double wanted = rate_(training.epoch(), now);
    if (!(wanted > 0) || !std::isfinite(wanted)) {
      throw Error(fmt::format("LearningRateScheduler: invalid learning rate {} for epoch {}",
                              wanted, training.epoch()),
                  "let the function given to LearningRateScheduler return a finite number above 0");
    }
    if (now > 0) training.scale_learning_rate(wanted / now);
  }

 private:
  std::function<double(int64_t, double)> rate_;
};

class LambdaCallbackCallback : public Callback {
 public:
  explicit LambdaCallbackCallback(LambdaCallbackOptions f) : f_(std::move(f)) {}

  std::string name() const override { return fmt::format("lambda {}", fmt::ptr(this)); }
  bool wants_batches() const override { return static_cast<bool>(f_.on_batch_end); }
  void on_train_begin(Training& t) override {
    if (f_.on_train_begin) f_.on_train_begin(t);
  }
  void on_epoch_begin(Training& t) override {
    if (f_.on_epoch_begin) f_.on_epoch_begin(t);
  }
  void on_batch_end(Training& t, double loss) override { f_.on_batch_end(t, loss); }
  void on_epoch_end(Training& t, Logs& logs) override {
    if (f_.on_epoch_end) f_.on_epoch_end(t, logs);
  }
  void on_train_end(Training& t) override {
    if (f_.on_train_end) f_.on_train_end(t);
  }

 private:
  LambdaCallbackOptions f_;
};

}  // namespace

CallbackPtr EarlyStopping(EarlyStoppingOptions options) {
  return std::make_shared<EarlyStoppingCallback>(std::move(options));
}
CallbackPtr ReduceLROnPlateau(ReduceLROnPlateauOptions options) {
  return std::make_shared<PlateauCallback>(std::move(options));
}
CallbackPtr SaveBest(std::string path, SaveBestOptions options) {
  return std::make_shared<SaveBestCallback>(std::move(path), std::move(options));
}
CallbackPtr CSVLogger(std::string path) {
  return std::make_shared<CSVLoggerCallback>(std::move(path));
}
CallbackPtr TerminateOnNaN() { return std::make_shared<TerminateOnNaNCallback>(); }
CallbackPtr LearningRateScheduler(std::function<double(int64_t, double)> rate) {
  return std::make_shared<LearningRateCallback>(std::move(rate));
}
CallbackPtr LambdaCallback(LambdaCallbackOptions options) {
  return std::make_shared<LambdaCallbackCallback>(std::move(options));
}

}  // namespace headway
