#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/verbs.h"
#include "headway/check/gather.h"
#include "headway/check/judge/judge.h"
#include "headway/check/report.h"
#include "headway/core/print.h"

namespace headway::cli {
namespace {

constexpr int kDoesNotFit = 3;

struct Check {
  CheckOptions options;
  bool no_disk = false, json = false, strict = false;
};

int run(Check& settings) {
  settings.options.measure_disk = !settings.no_disk;
  std::error_code error;  // without /proc it is looked for in the working directory
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  settings.options.own_trainer = (own.parent_path() / "headway-train").string();
  const MachineFacts facts = gather(settings.options);
  const CheckLines lines = judge(facts);
  if (settings.json) print_json_in_order(check_json(lines, facts));
  else print_lines(stdout, check_text(lines));
  const CheckCounts counts = count_of(lines);
  const bool fails = counts.wrong > 0 || (settings.strict && counts.doubtful + counts.not_seen > 0);
  return fails ? kDoesNotFit : 0;
}

}  // namespace

void add_check(CLI::App& app, Task& task, int& status) {
  auto settings = std::make_shared<Check>();
  CLI::App* verb =
      app.add_subcommand("check", "does this machine fit for training, and if not, why?");
  verb->add_option("script", settings->options.script,
                   "a Python training script: also say what it will need (modules, files, GPUs, "
                   "workers); it is read, not run")
      ->type_name("FILE");
  verb->add_option("--data", settings->options.data,
                   "folder or file of the training data, whose disk is looked at (default: the "
                   "working directory)")
      ->type_name("PATH");
  verb->add_flag("--no-disk", settings->no_disk,
                 "do not measure how fast the disk is read (default: measure for about 3 s; where "
                 "the folder has no large file, a file of 64 MB lies in it meanwhile)");
  verb->add_option(
          "--python", settings->options.python,
          "the Python that trains, a program or its path (default: that of VIRTUAL_ENV, of "
          "CONDA_PREFIX, else python3 of the PATH)")
      ->type_name("PROGRAM");
  verb->add_flag(
      "--strict", settings->strict,
      "end with status 3 where something is doubtful or could not be seen, too (default: "
      "only where something is wrong)");
  verb->add_flag("--json", settings->json,
                 "print the result as one JSON object on standard output");
  set_help(
      *verb,
      {.examples = {{"headway check"},
                    {"headway check train.py --data photos", "what will this script need?"},
                    {"headway check --no-disk --strict && sbatch job.sh"}},
       .notes =
           "Each line is good, doubtful, wrong or not seen, with what was found, why it matters "
           "and the remedy. No framework is imported, and what could not be seen is never called "
           "good.",
       .statuses = {{"0", "it fits"},
                    {"3", "something is wrong (with --strict: or doubtful, or not seen)"},
                    {"2", "the command line was not understood"}}});
  verb->callback(
      [settings, &task, &status] { task = [settings, &status] { status = run(*settings); }; });
}

}  // namespace headway::cli
