#include "cli/train_settings.h"

#include <gtest/gtest.h>

#include "headway/core/error.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway::cli {
namespace {

class TrainConfig : public ::testing::Test {
 protected:
  TrainConfig() { add_train_options(app_, settings_); }
  std::string refusal_of(const std::string& text) {
    app_.clear();
    try {
      read_train_config(app_, folder_.write("run.toml", text));
    } catch (const Error& e) {
      return e.problem().substr(folder_.path().size() + 1);
    }
    return "";
  }
  TempFolder folder_;
  CLI::App app_;
  TrainSettings settings_;
};

TEST_F(TrainConfig, SaysWhatTheCommandLineDoesNot) {
  EXPECT_EQ(refusal_of("batch = 64\nmodel = \"resnet18\"\naugment = true\nlearning-rate = 1e-3\n"),
            "");
  EXPECT_EQ(settings_.batch, 64);
  EXPECT_EQ(settings_.model, "resnet18");
  EXPECT_TRUE(settings_.augment);
  EXPECT_EQ(settings_.learning_rate, 1e-3);
}

TEST_F(TrainConfig, WhatIsWrongIsNamedByItsLine) {
  EXPECT_EQ(refusal_of("batch = 8\nepoch = 3\n"),
            "run.toml:2: epoch is not an option of headway train");
  EXPECT_EQ(refusal_of("batch = \"many\"\n").find("run.toml:1: batch: "), 0u);
  EXPECT_EQ(refusal_of("batch = -1\n").find("run.toml:1: batch: "), 0u);
  EXPECT_EQ(refusal_of("[train]\nbatch = 8\n"), "run.toml:1: a table");
}

TEST_F(TrainConfig, KeysThatWereRenamedStillWork) {
  EXPECT_EQ(refusal_of("probe = true\n"), "");
  EXPECT_TRUE(settings_.replay);
}

TEST_F(TrainConfig, AFileThatIsNoConfigTakesNoMemory) {
  EXPECT_EQ(refusal_of(std::string(2 << 20, '\n')),
            "run.toml: the file has 2097152 bytes, but at most 1048576 bytes are read into memory "
            "at once");
}

}  // namespace
}  // namespace headway::cli
