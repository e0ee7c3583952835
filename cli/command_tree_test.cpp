#include "cli/command_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/completion_scripts.h"

namespace headway::cli {
namespace {

class CommandTree : public ::testing::Test {
 protected:
  CommandTree() {
    verb_->add_option("SRC", text_, "what to convert")->required()->type_name("PATH");
    verb_->add_option("--format,--as", text_, "format of the images")
        ->check(CLI::IsMember({"jpeg", "png"}))
        ->default_str("jpeg");
    verb_->add_option("--count", number_, "how many")->check(CLI::Range(1, 9));
    verb_->add_flag("--trust", trust_, "decode nothing");
    auto* keeping = verb_->add_option_group("Keeping");
    keeping->add_option("--save", text_, "file for the weights")->type_name("FILE");
  }
  CommandHelp tree() const { return describe(app_); }
  OptionHelp option(const std::string& name) const {
    const CommandHelp verb = tree().verbs.at(0);
    for (const OptionHelp& each : verb.options)
      for (const std::string& known : each.names)
        if (known == name) return each;
    ADD_FAILURE() << name;
    return {};
  }

  std::string text_;
  int number_ = 0;
  bool trust_ = false;
  CLI::App app_{"a program", "headway"};
  CLI::App* verb_ = app_.add_subcommand("convert", "images to records");
};

TEST_F(CommandTree, NamesAVerbAndItsArgument) {
  const CommandHelp verb = tree().verbs.at(0);
  EXPECT_EQ(verb.name, "headway convert");
  EXPECT_EQ(verb_of(verb), "convert");
  ASSERT_EQ(verb.arguments.size(), 1u);
  EXPECT_EQ(verb.arguments[0].value, "SRC");
  EXPECT_EQ(verb.arguments[0].kind, ValueKind::kPath);
  EXPECT_TRUE(verb.arguments[0].required);
}

TEST_F(CommandTree, AnOptionOfFewWordsListsThem) {
  const OptionHelp format = option("--as");
  EXPECT_EQ(format.names, (std::vector<std::string>{"--format", "--as"}));
  EXPECT_EQ(format.value, "jpeg|png");
  EXPECT_EQ(format.choices, (std::vector<std::string>{"jpeg", "png"}));
  EXPECT_EQ(format.standard, "jpeg");
}

TEST_F(CommandTree, ANumberIsNAndAFlagTakesNothing) {
  EXPECT_EQ(option("--count").value, "N");
  EXPECT_FALSE(option("--trust").takes_value());
}

TEST_F(CommandTree, TheNameOfAValueMayListWords) {
  verb_->add_option("--layout", text_, "order of the dimensions")->option_text("chw|hwc");
  EXPECT_EQ(option("--layout").choices, (std::vector<std::string>{"chw", "hwc"}));
}

TEST_F(CommandTree, HelpIsListedOnceHoweverManyHeadingsThereAre) {
  const CommandHelp verb = tree().verbs.at(0);
  size_t helps = 0;
  for (const OptionHelp& each : verb.options) helps += std::ranges::count(each.names, "--help");
  EXPECT_EQ(helps, 1u);
}

TEST_F(CommandTree, OptionsBelowAHeadingBelongToTheVerb) {
  EXPECT_EQ(option("--save").kind, ValueKind::kFile);
  EXPECT_EQ(tree().verbs.size(), 1u) << "a heading is no verb";
}

TEST_F(CommandTree, AVerbWithItsOwnVerbsDoesNothingAlone) {
  CLI::App* bench = app_.add_subcommand("bench", "measure");
  bench->add_subcommand("feed", "a dataset");
  const CommandHelp program = tree();
  std::vector<std::string> names;
  for (const CommandHelp* each : leaves_of(program)) names.push_back(verb_of(*each));
  EXPECT_EQ(names, (std::vector<std::string>{"convert", "bench feed"}));
  EXPECT_EQ(verb_words(program), (std::vector<std::string>{"convert", "bench", "feed"}));
}

TEST_F(CommandTree, AVerbTakesOverNobodysHelp) {
  CLI::App app("a program", "headway");
  set_help(app, {.notes = "of the program", .statuses = exit_statuses()});
  CLI::App* verb = app.add_subcommand("check", "this machine");
  EXPECT_EQ(help_of(app).notes, "of the program");
  EXPECT_EQ(help_of(*verb).notes, "");
  verb->footer("of its own");
  EXPECT_EQ(help_of(*verb).notes, "of its own");
  EXPECT_NE(verb->help().find("of its own"), std::string::npos);
  EXPECT_EQ(verb->help().find("of the program"), std::string::npos);
}

TEST(FirstClause, EndsWhereAReaderMayStop) {
  EXPECT_EQ(first_clause("copy images: faster, but damage is not noticed"), "copy images");
  EXPECT_EQ(first_clause("how many (default: 4)"), "how many");
  EXPECT_EQ(first_clause("format of the images"), "format of the images");
}

}  // namespace
}  // namespace headway::cli
