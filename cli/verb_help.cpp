#include "cli/verb_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command_tree.h"
#include "headway/core/wrap.h"

namespace headway::cli {
namespace {

constexpr size_t kWidth = 100;

std::string examples_text(const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string out = examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const Example& each : examples) {
    out += "  " + each.command + "\n";
    if (!each.comment.empty()) out += "      " + each.comment + "\n";
  }
  return out;
}

std::string statuses_text(const std::vector<ExitStatus>& statuses) {
  if (statuses.empty()) return "";
  size_t width = 0;
  for (const ExitStatus& each : statuses) width = std::max(width, each.number.size());
  std::string out = "Exit status:\n";
  for (const auto& [number, meaning] : statuses)
    out += wrapped(fmt::format("  {:<{}}  ", number, width), meaning, kWidth);
  return out;
}

// Verbs take over the formatter of the program they are added to: it knows whose help it holds.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(const CLI::App& verb, VerbHelp help) : verb_(&verb), help_(std::move(help)) {
    label("SUBCOMMAND", "VERB"), label("SUBCOMMANDS", "VERB");
  }

  const CLI::App* verb() const { return verb_; }
  const VerbHelp& help() const { return help_; }

  std::string make_footer(const CLI::App* verb) const override {
    if (verb != verb_) return CLI::Formatter::make_footer(verb);
    std::string out = examples_text(help_.examples);
    for (const std::string& paragraph : paragraphs_of(help_.notes))
      out += wrapped("", paragraph, kWidth);
    return out + statuses_text(help_.statuses);
  }

  // "FILE", "exact|fast (default: exact)": the same words as in the man page.
  std::string make_option_opts(const CLI::Option* option) const override {
    const OptionHelp of = describe(*option);
    std::string out = of.value.empty() || of.names.empty() ? "" : " " + of.value;
    if (!of.standard.empty()) out += fmt::format(" (default: {})", of.standard);
    if (of.repeats) out += " ...";
    return out + (of.required ? " REQUIRED" : "");
  }

 private:
  const CLI::App* verb_;
  VerbHelp help_;
};

}  // namespace

std::vector<ExitStatus> exit_statuses(std::vector<ExitStatus> own) {
  if (own.empty()) own = {{"0", "done"}};
  own.insert(own.end(), {{"1", "failed: a message says why, and what to do"},
                         {"2", "the command line was not understood"},
                         {"130", "interrupted by Ctrl-C (143: by SIGTERM)"}});
  return own;
}

void set_help(CLI::App& verb, VerbHelp help) {
  verb.formatter(std::make_shared<HelpFormatter>(verb, std::move(help)));
}

VerbHelp help_of(const CLI::App& verb) {
  const auto formatter = std::dynamic_pointer_cast<HelpFormatter>(verb.get_formatter());
  if (formatter && formatter->verb() == &verb) return formatter->help();
  return {.notes = verb.get_footer()};
}

}  // namespace headway::cli
