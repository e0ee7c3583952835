#include "cli/manifest.h"

#include <gtest/gtest.h>

#include "headway/core/error.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway::cli {
namespace {

const nlohmann::json kSettings = {{"source", "photos"}, {"shards", 4}};

class ManifestFile : public ::testing::Test {
 protected:
  // What is said of a folder with that manifest; empty when it is gone on with.
  std::string refusal_of(const std::string& text, const nlohmann::json& settings = kSettings) {
    folder_.write("out/headway-convert.json", text);
    try {
      EXPECT_TRUE(Manifest(folder_.path("out"), settings).continues());
    } catch (const Error& e) {
      EXPECT_FALSE(e.hint().empty());
      EXPECT_EQ(folder_.read("out/headway-convert.json"), text);
      return e.problem();
    }
    return "";
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  TempFolder folder_;
};

TEST_F(ManifestFile, GoesOnWithTheSameSettingsOnly) {
  { const Manifest first(folder_.path("out"), kSettings); }
  const std::string text = folder_.read("out/headway-convert.json");
  EXPECT_EQ(refusal_of(text), "");
  EXPECT_TRUE(has(refusal_of(text, {{"source", "photos"}, {"shards", 8}}), "4 there, 8 wanted"));
}

TEST_F(ManifestFile, OfEarlierVersionsHasNone) {
  EXPECT_EQ(refusal_of(R"({"settings":{"source":"photos","shards":4},"finished":true})"), "");
}

TEST_F(ManifestFile, ThatCannotBeReadIsRefusedInPlainWords) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_TRUE(has(refusal_of("{"),
                  "headway-convert.json: this is not valid JSON: unexpected text at byte 1"));
  EXPECT_TRUE(has(refusal_of("[]"), "is a list, but must be an object"));
  EXPECT_TRUE(has(refusal_of("{}"), "'settings' is missing"));
  EXPECT_TRUE(has(refusal_of(R"({"settings":{"source":)" + deep + "}}"), "levels"));
  EXPECT_TRUE(has(refusal_of(R"({"version":2,"settings":{}})"), "(in format 2,"));
  EXPECT_TRUE(has(refusal_of(std::string(2 << 20, ' ')), "are read into memory at once"));
}

TEST_F(ManifestFile, PathsThatAreNoTextCompareToo) {
  const nlohmann::json odd = {{"source", "\xff"}};
  { const Manifest first(folder_.path("out"), odd); }
  EXPECT_EQ(refusal_of(folder_.read("out/headway-convert.json"), odd), "");
}

TEST_F(ManifestFile, ARefusedFolderIsFreeAgain) {
  refusal_of("{}");
  EXPECT_FALSE(has(refusal_of("{}"), "is in use by"));
}

}  // namespace
}  // namespace headway::cli
