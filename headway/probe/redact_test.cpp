#include "headway/probe/redact.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Redact, HidesValuesByTheirNames) {
  EXPECT_EQ(redacted_command({"python", "train.py", "--api-key", "abc", "--epochs", "5"}),
            "python train.py --api-key *** --epochs 5");
  EXPECT_EQ(redacted_command({"python", "--token=abc"}), "python --token=***");
  EXPECT_EQ(redacted("password: hunter2"), "password: ***");
}

TEST(Redact, HidesValuesByTheirShape) {
  EXPECT_EQ(redacted("x = 'hf_abcdefghijklmnopqrst'"), "x = '***'");
  EXPECT_EQ(redacted("pull https://me:word@host/x"), "pull https://***@host/x");
}

TEST(Redact, LeavesOrdinaryWordsAlone) {
  EXPECT_EQ(redacted("image = Image.open(path)"), "image = Image.open(path)");
  EXPECT_EQ(redacted("tokenizer = make(name=big)"), "tokenizer = make(name=big)");
  EXPECT_FALSE(names_a_secret("tokenizer"));
}

}  // namespace
}  // namespace headway
