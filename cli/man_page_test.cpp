#include "cli/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CommandHelp doctor() {
  return {.name = "headway doctor",
          .summary = "say why",
          .options = {{.names = {"--html"}, .value = "FILE", .text = "write a page, 'so'"},
                      {.names = {"--top"}, .value = "N", .text = "how many", .standard = "3"}},
          .arguments = {{.value = "trace", .text = "the run", .required = true}},
          .help = {.examples = {{"headway doctor run.trace", "at once"}},
                   .notes = "Looks.\n.dots begin no request",
                   .statuses = {{"3", "found"}}},
          .verbs = {}};
}

TEST(ManPage, HasTheSectionsOfAManPage) {
  const std::string page = man_page(doctor(), "1.2.3");
  EXPECT_TRUE(page.starts_with(".TH \"HEADWAY-DOCTOR\" 1 \"\" \"headway 1.2.3\"")) << page;
  size_t at = 0;
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "EXAMPLES",
                              "EXIT STATUS", "SEE ALSO"}) {
    const size_t found = page.find(std::string(".SH ") + section + "\n");
    ASSERT_NE(found, std::string::npos) << section;
    EXPECT_GT(found, at) << section << " comes too early";
    at = found;
  }
}

TEST(ManPage, SaysOptionsWithTheirDefaults) {
  const std::string page = man_page(doctor(), "1.2.3");
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-html\\fR \\fIFILE\\fR\nwrite a page, \\(aqso\\(aq\n"));
  EXPECT_THAT(page, HasSubstr("how many (default: 3)\n"));
  EXPECT_THAT(page, HasSubstr("\\fBheadway doctor\\fR [\\fIOPTIONS\\fR] \\fItrace\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB3\\fR\nfound\n"));
}

TEST(ManPage, TextCannotBecomeARequest) {
  EXPECT_THAT(man_page(doctor(), "1"), HasSubstr("\\&.dots begin no request"));
  EXPECT_THAT(man_page(doctor(), "1"), Not(HasSubstr("\n.dots")));
}

TEST(ManPage, OfTheProgramListsItsVerbs) {
  const CommandHelp program{.name = "headway", .summary = "all", .verbs = {doctor()}};
  const std::string page = man_page(program, "1");
  EXPECT_THAT(page, HasSubstr(".SH VERBS\n.TP\n\\fBdoctor\\fR\nsay why; see "
                              "\\fBheadway\\-doctor\\fR(1)\n"));
  EXPECT_THAT(page, Not(HasSubstr("SEE ALSO")));
}

}  // namespace
}  // namespace headway::cli
