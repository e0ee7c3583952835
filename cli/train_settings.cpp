#include "cli/train_settings.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/flat_toml.h"
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
  app.footer(
      "Examples:\n"
      "  headway train                                     draws its own images and learns them\n"
      "  headway train --data photos --model resnet18 --epochs 20 --augment --schedule cosine\n"
      "  headway train run.toml --resume                   goes on where it was killed\n"
      "A TOML file holds the same words:  data = \"photos\"\\n  model = \"resnet18\"\n"
      "Exit status: 0 done, 1 failed, 2 not understood, 130 interrupted (a checkpoint is kept).");
  app.add_option("config", s.config, "TOML file; the command line goes before it")
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
  data->add_option("--data", s.data, "image folder (a folder per class) or TFRecord files");
  data->add_option("--validation", s.validation, "the same, to validate on");
  data->add_option("--validation-split", s.validation_split,
                   "without --validation: this share of --data is kept apart")
      ->check(finite)
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  data->add_option("--size", s.size, "side of the images (default: the model's)")->check(positive);
  data->add_option("--classes", s.classes, "of TFRecord files (default: counted)")->check(positive);
  data->add_flag("--augment", s.augment, "random crops and flips");
  data->add_option("--work", s.work, "folder for drawn images and checkpoints")
      ->capture_default_str();

  auto* learning = app.add_option_group("Learning");
  learning->add_option("--model", s.model, "what to train")
      ->check(CLI::IsMember({"small", "resnet18", "resnet50", "vgg16"}))
      ->capture_default_str();
  learning->add_option("--epochs", s.epochs, "times through the data")
      ->check(positive)
      ->capture_default_str();
  learning->add_option("--batch", s.batch, "images per step")
      ->check(positive)
      ->capture_default_str();
  learning->add_option("--steps-per-epoch", s.steps_per_epoch, "shorter epochs than the data's")
      ->check(positive);
  learning->add_option("--optimizer", s.optimizer, "what moves the weights")
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "rmsprop"}))
      ->capture_default_str();
  learning->add_option("--learning-rate", s.learning_rate, "default: the optimizer's")
      ->check(finite)
      ->check(positive);
  learning->add_option("--momentum", s.momentum, "of sgd")
      ->check(finite)
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  learning->add_option("--weight-decay", s.weight_decay, "decoupled")
      ->check(finite)
      ->check(not_negative);
  learning->add_option("--schedule", s.schedule, "of the learning rate over the whole training")
      ->check(CLI::IsMember({"constant", "cosine"}))
      ->capture_default_str();
  learning->add_option("--warmup", s.warmup, "steps until the full learning rate")
      ->check(not_negative);
  learning->add_option("--label-smoothing", s.label_smoothing, "0.1 is customary")
      ->check(finite)
      ->check(CLI::Range(0.0, 0.9));
  learning->add_option("--clip-norm", s.clip_norm, "gradients, all together")
      ->check(finite)
      ->check(positive);
  learning->add_option("--accumulate", s.accumulate, "batches per step")->check(positive);
  learning->add_option("--patience", s.patience, "epochs without progress before it stops early")
      ->check(positive);

  auto* machine = app.add_option_group("Machine");
  machine->add_option("--device", s.device, "cpu, cuda, cuda:<number> or auto")
      ->capture_default_str();
  machine->add_option("--precision", s.precision, "of products")
      ->check(CLI::IsMember({"float32", "bfloat16"}))
      ->capture_default_str();
  machine->add_option("--intra-op", s.intra_op, "threads inside an operation (default: chosen)")
      ->check(positive);
  machine->add_option("--input-threads", s.input_threads, "workers that feed (default: chosen)")
      ->check(positive);
  machine->add_option("--seed", s.seed, "of weights, order and augmentation")
      ->capture_default_str();

  auto* keeping = app.add_option_group("Keeping");
  keeping->add_option("--checkpoint", s.checkpoint, "folder (default: checkpoints in --work)");
  keeping->add_option("--every-steps", s.every_steps, "checkpoints within an epoch")
      ->check(positive);
  keeping->add_option("--keep", s.keep, "how many checkpoints stay")
      ->check(positive)
      ->capture_default_str();
  keeping->add_flag("--resume", s.resume, "go on from the newest checkpoint");
  keeping->add_option("--save", s.save, "write the weights here at the end (safetensors)");
  keeping->add_option("--csv", s.csv, "one line per epoch");
  keeping->add_option("--trace", s.trace, "write here what happens, for `headway doctor`");
  keeping
      ->add_option("--when-stuck", s.when_stuck,
                   "nothing moves: go-on, stop (with a checkpoint) or abort")
      ->check(CLI::IsMember({"go-on", "stop", "abort"}))
      ->capture_default_str();
  keeping->add_option("--report", s.report, "write the run as one HTML page at the end");
  keeping->add_flag("--live", s.live,
                    "draw pipeline, step and findings on the whole terminal while it runs");
  keeping->add_flag("--replay,--probe", s.replay,
                    "first replay one batch: what would a faster feed, a larger batch bring?");
  keeping->add_flag("--summary", s.summary, "print the layers and the memory they take");
  keeping->add_flag("--json", s.json, "one JSON object on standard output at the end");
}

void read_train_config(CLI::App& app, const std::string& path) {
  const std::string text = read_regular(path, kMaxConfigBytes);
  for (const auto& [key, value, line] : parse_flat_toml(text, path)) {
    const std::string where = fmt::format("{}:{}: {}", path, line, key);
    CLI::Option* option = key == "config" ? nullptr : app.get_option_no_throw("--" + key);
    if (!option) throw Error(where + " is no option of headway train", nearest(app, key));
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
