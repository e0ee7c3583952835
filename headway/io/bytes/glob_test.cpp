#include "headway/io/bytes/glob.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "headway/core/error.h"
#include "headway/core/under_sanitizer.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway {
namespace {

class Glob : public testing::Test {
 protected:
  Glob() {
    for (const char* name : {"b/2.jpg", "b/1.jpg", "b/1.png", "a/x.jpg", "a/deep/er/y.jpg",
                             "a-b/z.jpg", "top.jpg", ".hidden/h.jpg", "a/.dot.jpg", "odd[1].txt"}) {
      temp_.write(name, "");
    }
  }
  // Matches of `pattern`, seen from the folder of this test.
  std::vector<std::string> match(const std::string& pattern) {
    const PathList found = list_files(temp_.path(pattern));
    std::vector<std::string> names;
    for (size_t i = 0; i < found.size(); ++i) {
      names.push_back(found.path(i).substr(temp_.path().size() + 1));
    }
    return names;
  }
  std::string complaint(const std::string& pattern) {
    try {
      match(pattern);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  using Names = std::vector<std::string>;
  TempFolder temp_;
};

TEST_F(Glob, MatchesWithinNames) {
  EXPECT_EQ(match("b/*.jpg"), (Names{"b/1.jpg", "b/2.jpg"}));
  EXPECT_EQ(match("b/?.p*"), (Names{"b/1.png"}));
  EXPECT_EQ(match("b/[2-9].jpg"), (Names{"b/2.jpg"}));
  EXPECT_EQ(match("*/*.jpg"), (Names{"a/x.jpg", "a-b/z.jpg", "b/1.jpg", "b/2.jpg"}));
}

TEST_F(Glob, TwoStarsCrossFoldersButNotHiddenOnes) {
  EXPECT_EQ(match("**/*.jpg"),
            (Names{"a/deep/er/y.jpg", "a/x.jpg", "a-b/z.jpg", "b/1.jpg", "b/2.jpg", "top.jpg"}));
  EXPECT_EQ(match("a/**/er/*"), (Names{"a/deep/er/y.jpg"}));
  EXPECT_EQ(match("a/**/**/*.jpg"), (Names{"a/deep/er/y.jpg", "a/x.jpg"}));
  EXPECT_EQ(match("a/**"), (Names{"a/deep/er/y.jpg", "a/x.jpg"}));
  EXPECT_EQ(match(".hidden/*"), (Names{".hidden/h.jpg"}));
}

TEST_F(Glob, ChoicesAreMergedSortedAndWithoutDoubles) {
  EXPECT_EQ(match("b/*.{png,jpg}"), (Names{"b/1.jpg", "b/1.png", "b/2.jpg"}));
  EXPECT_EQ(match("{b,a}/*.jpg"), (Names{"a/x.jpg", "b/1.jpg", "b/2.jpg"}));
  EXPECT_EQ(match("b/{1,{1,2}}.jpg"), (Names{"b/1.jpg", "b/2.jpg"}));
}

TEST_F(Glob, APathThatExistsStandsForItself) {
  EXPECT_EQ(match("odd[1].txt"), (Names{"odd[1].txt"}));
  EXPECT_EQ(match("b/1.jpg"), (Names{"b/1.jpg"}));
}

TEST_F(Glob, NothingFoundNamesPatternAndDeepestFolder) {
  const std::string message = complaint("a/dep/*.jpg");
  EXPECT_NE(message.find("no file matches " + temp_.path("a/dep/*.jpg")), std::string::npos)
      << message;
  EXPECT_NE(message.find(temp_.path("a") + " exists, what follows does not"), std::string::npos)
      << message;
  EXPECT_NE(complaint("b/*.gif").find("nothing in it matches"), std::string::npos);
  EXPECT_NE(complaint("b").find("is a folder"), std::string::npos);
}

TEST_F(Glob, LinksToFoldersAreFollowedByNameButNotByTwoStars) {
  std::filesystem::create_directory_symlink(temp_.path(), temp_.path("b/loop"));
  EXPECT_EQ(match("b/**/*.png"), (Names{"b/1.png"}));
  EXPECT_EQ(match("b/loop/*.jpg"), (Names{"b/loop/top.jpg"}));
}

TEST_F(Glob, AFolderThatCannotBeOpenedForWantOfDescriptorsIsNotTakenForEmpty) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer needs descriptors of its own";
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  ::setrlimit(RLIMIT_NOFILE, &none);
  const std::string said = complaint("*/*.jpg");
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_NE(said.find("may have 0 files open at once"), std::string::npos) << said;
}

TEST(PathList, HoldsNamesOfAnyLengthInAnyOrderOfFolders) {
  PathList list;
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string folder = i % 7 == 0 ? "" : "folder" + std::to_string(i / 100 % 3);
    const std::string name(i % 300 + 1, static_cast<char>('a' + i % 26));
    list.append(folder, name);
    expected.push_back(folder.empty() ? name : folder + "/" + name);
  }
  ASSERT_EQ(list.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(list.path(i), expected[i]);
}

TEST(PathList, CostsLittleMoreThanTheNames) {
  PathList list;
  constexpr size_t kNames = 1'000'000;
  for (size_t i = 0; i < kNames; ++i) {
    list.append("photos/class" + std::to_string(i / 1000),
                "image_" + std::to_string(1'000'000 + i) + ".jpg");
  }
  EXPECT_EQ(list.path(123'456), "photos/class123/image_1123456.jpg");
  EXPECT_LT(list.memory_bytes(), kNames * 20);
}

}  // namespace
}  // namespace headway
