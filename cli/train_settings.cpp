#include "cli/train_settings.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/flat_toml.h"
#include "cli/verb_help.h"
#include "headway/core/error.h"
#include "headway/core/regular_file.h"

namespace headway::cli {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;

// "epoch" -> "epochs": what was probably meant.
std::string nearest(const CLI::App& app, const std::string& key) {
  std::string names;
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* option : group->get_options()) {
      const std::string name = option->get_single_name();
      if (name.starts_with(key.substr(0, 3))) names += (names.empty() ? "" : ", ") + name;
    }
  }
  return names.empty() ? "headway train --help lists them" : "did you mean: " + names;
}

}  // namespace

void add_train_options(CLI::App& app, TrainSettings& s) {
  set_help(app,
           {.examples = {{"headway train --data photos --epochs 3"},
                         {"headway train", "draws its own images and learns them"},
                         {"headway train --data photos --model resnet18 --epochs 20 --augment "
                          "--schedule cosine"},
                         {"headway train run.toml --resume", "goes on where it was killed"}},
            .notes = "A TOML file holds the same words, one on a line, as in: data = \"photos\"",
            .statuses = exit_statuses({{"0", "done"}})});
  app.add_option("config", s.config,
                 "TOML file with options, one KEY = VALUE per line; options on the command line "
                 "override it")
      ->check(CLI::ExistingFile);
  const auto positive = CLI::PositiveNumber;
  const auto not_negative = CLI::NonNegativeNumber;
  // "nan" is a number to CLI11, and no comparison with it fails.
  const CLI::Validator finite(
      [](const std::string& text) {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        return number && !std::isfinite(value) ? text + " is not a finite number" : "";
      },
      "");

  auto* data = app.add_option_group("Data");
  data->add_option("--data", s.data,
                   "training data: a folder with one folder of images per class, or TFRecord files "
                   "(default: draws images)")
      ->type_name("PATH");
  data->add_option("--validation", s.validation,
                   "validation data, given as for --data (default: a part of --data, see "
                   "--validation-split)")
      ->type_name("PATH");
  data->add_option("--validation-split", s.validation_split,
                   "share of --data to keep apart for validation, 0 (none) to 0.9; not used with "
                   "--validation")
      ->check(finite)
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  data->add_option(
          "--size", s.size,
          "resize images to this many pixels in width and height (default: 64 with --model small, "
          "else 224)")
      ->check(positive);
  data->add_option("--classes", s.classes,
                   "number of classes (default: one per folder; for TFRecord files the largest "
                   "label plus 1)")
      ->check(positive);
  data->add_flag("--augment", s.augment, "crop and flip the training images at random");
  data->add_option("--work", s.work,
                   "folder for checkpoints, and for the images it draws when --data is not given")
      ->type_name("DIR")
      ->capture_default_str();

  auto* learning = app.add_option_group("Learning");
  learning
      ->add_option("--model", s.model,
                   "the network to train: small (a small convolutional network), resnet18, "
                   "resnet50 or vgg16")
      ->check(CLI::IsMember({"small", "resnet18", "resnet50", "vgg16"}))
      ->capture_default_str();
  learning
      ->add_option("--epochs", s.epochs, "how many epochs to train: passes over the training data")
      ->check(positive)
      ->capture_default_str();
  learning->add_option("--batch", s.batch, "how many images a batch has")
      ->check(positive)
      ->capture_default_str();
  learning
      ->add_option(
          "--steps-per-epoch", s.steps_per_epoch,
          "end each epoch after this many steps (default: after one pass over the training data)")
      ->check(positive);
  learning
      ->add_option("--optimizer", s.optimizer,
                   "optimizer that updates the weights: sgd, adam, adamw or rmsprop")
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "rmsprop"}))
      ->capture_default_str();
  learning
      ->add_option("--learning-rate", s.learning_rate,
                   "learning rate (default: 0.01 for sgd, 0.001 for the other optimizers)")
      ->check(finite)
      ->check(positive);
  learning
      ->add_option("--momentum", s.momentum, "momentum of sgd, 0 to 1; other optimizers ignore it")
      ->check(finite)
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  learning
      ->add_option("--weight-decay", s.weight_decay,
                   "weight decay: shrink all weights a little in each step, which helps against "
                   "overfitting (default: 0.004 for adamw, 0 for the others)")
      ->check(finite)
      ->check(not_negative);
  learning
      ->add_option(
          "--schedule", s.schedule,
          "how the learning rate changes during training: constant, or cosine (falls to 0)")
      ->check(CLI::IsMember({"constant", "cosine"}))
      ->capture_default_str();
  learning
      ->add_option("--warmup", s.warmup,
                   "raise the learning rate from 0 to its full value over this many steps at the "
                   "start (default: 0); helps when the loss grows at first")
      ->check(not_negative);
  learning
      ->add_option("--label-smoothing", s.label_smoothing,
                   "label smoothing: how far to train towards less than full certainty, 0 (none, "
                   "the default) to 0.9; 0.1 is common")
      ->check(finite)
      ->check(CLI::Range(0.0, 0.9));
  learning
      ->add_option("--clip-norm", s.clip_norm,
                   "scale all gradients down when their common norm is larger than this, which "
                   "helps when the loss jumps or becomes NaN (default: never; 1 is common)")
      ->check(finite)
      ->check(positive);
  learning
      ->add_option("--accumulate", s.accumulate,
                   "average the gradients of this many batches before each update of the weights "
                   "(default: 1): acts like a larger batch, without more memory")
      ->check(positive);
  learning
      ->add_option("--patience", s.patience,
                   "stop early when the loss (the validation loss, if there is validation data) "
                   "has not improved for this many epochs (default: never)")
      ->check(positive);

  auto* machine = app.add_option_group("Machine");
  machine
      ->add_option("--device", s.device,
                   "where to train: cpu, cuda, cuda:<number> (GPUs count from 0), or auto (a GPU "
                   "if one can be used)")
      ->capture_default_str();
  machine
      ->add_option("--precision", s.precision,
                   "number type of matrix products: float32 or bfloat16, which is faster on newer "
                   "GPUs and less exact; weights stay float32")
      ->check(CLI::IsMember({"float32", "bfloat16"}))
      ->capture_default_str();
  machine
      ->add_option(
          "--intra-op", s.intra_op,
          "how many CPU threads one operation of the model may use (default: chosen automatically)")
      ->check(positive);
  machine
      ->add_option(
          "--input-threads", s.input_threads,
          "how many worker threads read and decode the data (default: chosen automatically)")
      ->check(positive);
  machine
      ->add_option("--seed", s.seed,
                   "whole number that the initial weights, the order of the data and --augment "
                   "follow: another number gives others")
      ->capture_default_str();

  auto* keeping = app.add_option_group("Keeping");
  keeping
      ->add_option(
          "--checkpoint", s.checkpoint,
          "folder to write checkpoints to (default: the folder 'checkpoints' inside --work)")
      ->type_name("DIR");
  keeping
      ->add_option("--every-steps", s.every_steps,
                   "also write a checkpoint every so many steps (default: only after each epoch)")
      ->check(positive);
  keeping
      ->add_option("--keep", s.keep,
                   "how many of the newest checkpoints to keep; older ones are deleted")
      ->check(positive)
      ->capture_default_str();
  keeping->add_flag("--resume", s.resume,
                    "continue an earlier run from the newest checkpoint in its folder (see "
                    "--checkpoint); without a checkpoint, start from the beginning");
  keeping
      ->add_option("--save", s.save,
                   "write the trained weights to this file at the end, in safetensors format")
      ->type_name("FILE");
  keeping->add_option("--csv", s.csv, "write loss and metrics to this CSV file, one line per epoch")
      ->type_name("FILE");
  keeping
      ->add_option("--trace", s.trace,
                   "record what happens in the run (a trace) in this file; `headway doctor "
                   "FILE` then says why it was slow or stuck")
      ->type_name("FILE");
  keeping
      ->add_option("--when-stuck", s.when_stuck,
                   "what to do when training is stuck: go-on (wait), stop (with a checkpoint if "
                   "possible), or abort")
      ->check(CLI::IsMember({"go-on", "stop", "abort"}))
      ->capture_default_str();
  keeping
      ->add_option("--report", s.report,
                   "write a report of the run to this file at the end, as one HTML page")
      ->type_name("FILE");
  keeping->add_flag(
      "--live", s.live,
      "fill the terminal with a live view of the data pipeline, the steps and problems found");
  keeping->add_flag("--replay,--probe", s.replay,
                    "before training, train one batch again and again for some seconds to measure "
                    "how much faster loading or a larger batch would help (weights are put back); "
                    "--probe is another name of this option");
  keeping->add_flag("--summary", s.summary,
                    "print the model's layers and the memory they take before training");
  keeping->add_flag("--json", s.json,
                    "print the result as one JSON object on standard output at the end");
  app.add_flag("--version", s.version, "print the version, with libtorch and codecs, and exit");
}

void read_train_config(CLI::App& app, const std::string& path) {
  const std::string text = read_regular(path, kMaxConfigBytes);
  for (const auto& [key, value, line] : parse_flat_toml(text, path)) {
    const std::string where = fmt::format("{}:{}: {}", path, line, key);
    const bool of_the_line = key == "config" || key == "help" || key == "version";
    CLI::Option* option = of_the_line ? nullptr : app.get_option_no_throw("--" + key);
    if (!option) throw Error(where + " is not an option of headway train", nearest(app, key));
    if (option->count() > 0) continue;  // the command line goes first
    try {
      option->add_result(value);
      option->run_callback();
    } catch (const CLI::ParseError& e) {
      throw Error(fmt::format("{}: {}", where, e.what()), "headway train --help");
    }
  }
}

}  // namespace headway::cli
