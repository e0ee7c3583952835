#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway::cli {
namespace {

// roff takes a backslash, a dot or quote at the beginning of a line, and a bare hyphen for its own.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += ' ';
    else if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if (c == '\'') out += "\\(aq";
    else if (c == '`') out += "\\(ga";
    else if (c == '^') out += "\\(ha";
    else if (c == '~') out += "\\(ti";
    else out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", title, body);
}

std::string label_of(const OptionHelp& option) {
  if (option.names.empty()) return italic(option.value) + (option.repeats ? " ..." : "");
  std::string out;
  for (const std::string& name : option.names) out += (out.empty() ? "" : ", ") + bold(name);
  return option.takes_value() ? out + " " + italic(option.value) : out;
}

std::string options_of(const std::vector<OptionHelp>& options, bool headings) {
  std::string out, heading;
  for (const OptionHelp& option : options) {
    if (headings && option.group != heading) out += fmt::format(".SS {}\n", roff(option.group));
    heading = option.group;
    out += fmt::format(".TP\n{}\n{}", label_of(option), roff(option.text));
    if (!option.standard.empty()) out += fmt::format(" (default: {})", roff(option.standard));
    if (option.required && !option.names.empty()) out += " (required)";
    out += "\n";
  }
  return out;
}

std::string synopsis_of(const CommandHelp& command) {
  std::string out = bold(command.name);
  for (const OptionHelp& option : command.options)
    if (option.required) out += " " + label_of(option);
  out += " [" + italic("OPTIONS") + "]";
  for (const OptionHelp& argument : command.arguments)
    out += argument.required ? " " + label_of(argument) : " [" + label_of(argument) + "]";
  return out + (command.verbs.empty() ? "" : " " + italic("VERB") + " ...") + "\n";
}

std::string verbs_of(const CommandHelp& command) {
  std::string out;
  if (command.verbs.empty()) return out;
  for (const CommandHelp* verb : leaves_of(command))
    out += fmt::format(".TP\n{}\n{}; see {}(1)\n", bold(verb_of(*verb)), roff(verb->summary),
                       bold(page_name(*verb)));
  return out;
}

std::string examples_of(const VerbHelp& help) {
  std::string out;
  for (const Example& each : help.examples) {
    if (!each.comment.empty()) out += fmt::format("{}:\n", roff(each.comment));
    out += fmt::format(".PP\n.nf\n.RS\n{}\n.RE\n.fi\n.PP\n", roff(each.command));
  }
  return out;
}

std::string notes_of(const VerbHelp& help) {
  std::string out;
  for (const std::string& each : paragraphs_of(help.notes))
    out += fmt::format("{}{}\n", out.empty() ? "" : ".PP\n", roff(each));
  return out;
}

std::string statuses_of(const VerbHelp& help) {
  std::string out;
  for (const auto& [number, meaning] : help.statuses)
    out += fmt::format(".TP\n{}\n{}\n", bold(number), roff(meaning));
  return out;
}

}  // namespace

std::string page_name(const CommandHelp& command) {
  std::string out = command.name;
  std::ranges::replace(out, ' ', '-');
  return out;
}

std::string man_page(const CommandHelp& command, const std::string& version) {
  const auto& options = command.options;
  const bool headings = std::ranges::any_of(
      options, [&](const OptionHelp& each) { return each.group != options[0].group; });
  std::string title = page_name(command);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH \"{}\" 1 \"\" \"headway {}\" \"Headway\"\n", title, version) +
         section("NAME",
                 fmt::format("{} \\- {}\n", roff(page_name(command)), roff(command.summary))) +
         section("SYNOPSIS", synopsis_of(command)) +
         section("DESCRIPTION", notes_of(command.help)) + section("VERBS", verbs_of(command)) +
         section("ARGUMENTS", options_of(command.arguments, false)) +
         section("OPTIONS", options_of(options, headings)) +
         section("EXAMPLES", examples_of(command.help)) +
         section("EXIT STATUS", statuses_of(command.help)) +
         (verb_of(command).empty() ? "" : section("SEE ALSO", bold("headway") + "(1)\n"));
}

}  // namespace headway::cli
