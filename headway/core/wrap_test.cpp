#include "headway/core/wrap.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Wrapped, IndentsWhatDoesNotFitBelowTheFirstWord) {
  EXPECT_EQ(wrapped("fix  ", "one two three four", 14), "fix  one two\n     three\n     four\n");
}

TEST(Wrapped, LeavesAWordThatIsTooLongWhole) {
  EXPECT_EQ(wrapped("", "a /a/very/long/path b", 8), "a\n/a/very/long/path\nb\n");
}

TEST(Wrapped, OfNothingIsTheLabel) { EXPECT_EQ(wrapped("fix  ", "", 80), "fix  \n"); }

}  // namespace
}  // namespace headway
