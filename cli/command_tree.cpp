#include "cli/command_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

namespace headway::cli {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

std::optional<ValueKind> kind_of(const std::string& word) {
  constexpr std::pair<const char*, ValueKind> kKinds[] = {
      {"FILE", ValueKind::kFile},   {"DIR", ValueKind::kFolder},      {"PATH", ValueKind::kPath},
      {"PID", ValueKind::kProcess}, {"COMMAND", ValueKind::kCommand}, {"VERB", ValueKind::kVerb}};
  for (const auto& [name, kind] : kKinds)
    if (word == name) return kind;
  return std::nullopt;
}

// CLI::IsMember describes itself as "{exact,fast}".
std::vector<std::string> choices_in(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return split(type.substr(open + 1, close - open - 1), ',');
}

// "INT:POSITIVE", "UINT:INT in [1 - 100]" -> "N"; a user needs no more, the text says the range.
std::string plain_type(const std::string& type) {
  const std::string first = type.substr(0, type.find(':'));
  if (first == "INT" || first == "UINT") return "N";
  return first == "FLOAT" ? "NUMBER" : first;
}

void say_value(OptionHelp& out, const CLI::Option& option) {
  const std::string type = option.get_type_name(), text = option.get_option_text();
  out.choices = choices_in(type);
  out.value = text.empty() ? plain_type(type) : text;
  if (out.value.find('|') != std::string::npos) out.choices = split(out.value, '|');
  if (!out.choices.empty()) {
    out.kind = ValueKind::kChoice;
    if (text.empty()) out.value = fmt::format("{}", fmt::join(out.choices, "|"));
    return;
  }
  for (const std::string& word : split(text.empty() ? type : text, ':'))
    if (const auto kind = kind_of(word)) {
      out.kind = *kind;
      if (text.empty()) out.value = word;
    }
}

void add_options(CommandHelp& out, const CLI::App& app, const std::string& group) {
  for (const CLI::Option* option : app.get_options()) {
    if (!group.empty() && option == app.get_help_ptr()) continue;  // each heading has its own
    OptionHelp each = describe(*option);
    if (!group.empty()) each.group = group;
    (each.names.empty() ? out.arguments : out.options).push_back(std::move(each));
  }
}

CommandHelp describe_below(const CLI::App& app, const std::string& above) {
  CommandHelp out;
  out.name = above.empty() ? app.get_name() : above + " " + app.get_name();
  out.summary = app.get_description();
  out.help = help_of(app);
  add_options(out, app, "");
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (below->get_name().empty()) add_options(out, *below, below->get_group());  // a heading
    else out.verbs.push_back(describe_below(*below, out.name));
  }
  return out;
}

}  // namespace

OptionHelp describe(const CLI::Option& option) {
  OptionHelp out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.text = option.get_description();
  out.standard = option.get_default_str();
  out.group = option.get_group();
  out.required = option.get_required();
  if (option.get_items_expected_max() > 0) say_value(out, option);
  if (out.names.empty()) out.value = option.get_name(true, false);
  out.repeats = option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  return out;
}

CommandHelp describe(const CLI::App& app) { return describe_below(app, ""); }

std::string verb_of(const CommandHelp& command) {
  const size_t space = command.name.find(' ');
  return space == std::string::npos ? "" : command.name.substr(space + 1);
}

std::vector<const CommandHelp*> leaves_of(const CommandHelp& command) {
  if (command.verbs.empty()) return {&command};
  std::vector<const CommandHelp*> out;
  for (const CommandHelp& verb : command.verbs)
    std::ranges::copy(leaves_of(verb), std::back_inserter(out));
  return out;
}

std::vector<std::string> paragraphs_of(const std::string& text) {
  std::vector<std::string> out = split(text, '\n');
  std::erase(out, "");
  return out;
}

}  // namespace headway::cli
