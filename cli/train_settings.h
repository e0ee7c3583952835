#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace headway::cli {

// What `headway train` is told, on the command line or in a TOML file. The keys of the file are
// the names of the options without their dashes: `batch = 64`.
struct TrainSettings {
  std::string config;  // the TOML file
  std::string data;    // empty: draws its own
  std::string validation;
  double validation_split = 0.2;
  std::string work = "headway-run";  // own images and checkpoints go here

  std::string model = "small";
  int64_t size = 0;  // of the images; 0: the model's
  int64_t classes = 0;
  bool augment = false;

  int64_t epochs = 5;
  int64_t batch = 32;
  std::optional<int64_t> steps_per_epoch;
  std::string optimizer = "adam";
  double learning_rate = 0;  // 0: the optimizer's
  double momentum = 0.9;
  double weight_decay = 0;
  std::string schedule = "constant";
  int64_t warmup = 0;
  double label_smoothing = 0;
  std::optional<double> clip_norm;
  int64_t accumulate = 1;
  int64_t patience = 0;  // early stopping; 0: none

  std::string device = "auto";
  std::string precision = "float32";
  std::optional<int> intra_op, input_threads;
  uint64_t seed = 0;

  std::string checkpoint;  // folder; empty: <work>/checkpoints
  std::optional<int64_t> every_steps;
  int64_t keep = 3;
  bool resume = false;
  std::string save;  // weights, at the end
  std::string csv;
  std::string trace;  // for `headway doctor`
  std::string when_stuck = "go-on";
  bool replay = false;
  bool live = false;
  std::string report;  // HTML
  bool summary = false;
  bool json = false;
  bool version = false;  // say it, and train nothing
};

// Adds the options to `app`, with groups and examples. `settings` must live as long as `app`.
void add_train_options(CLI::App& app, TrainSettings& settings);

// Puts what the TOML file says where the command line was silent. Errors name file and line.
void read_train_config(CLI::App& app, const std::string& path);

}  // namespace headway::cli
