#include "headway/data/sources/folder_walk.h"

#include <gtest/gtest.h>

#include "headway/core/log.h"
#include "headway/data/sources/sources.h"
#include "headway/io/bytes/temp_folder.h"

namespace headway {
namespace {

class ImageFolders : public testing::Test {
 protected:
  ImageFolders() {
    for (const char* name : {"photos/cat/1.jpg", "photos/dog/2.png", "elsewhere/deep/3.jpg"})
      temp_.write(name, "x");
    old_ = set_log_sink([this](LogLevel, const std::string& text) { said_ += text + "\n"; });
  }
  ~ImageFolders() override { set_log_sink(old_); }

  void link(const std::string& at, const std::string& to) {
    std::filesystem::create_directory_symlink(to, temp_.path("photos/" + at));
  }
  std::vector<std::string> listed() {
    const ImageFolder folder = list_image_folder(temp_.path("photos"));
    std::vector<std::string> names;
    for (size_t i = 0; i < folder.labels.size(); ++i)
      names.push_back(folder.paths->path(i).substr(temp_.path("photos/").size()));
    return names;
  }
  using Names = std::vector<std::string>;
  TempFolder temp_;
  LogSink old_;
  std::string said_;
};

TEST_F(ImageFolders, ALinkToAFolderElsewhereIsFollowed) {
  link("cat/more", "../../elsewhere");
  EXPECT_EQ(listed(), (Names{"cat/1.jpg", "cat/more/deep/3.jpg", "dog/2.png"}));
  EXPECT_EQ(said_, "");
}

TEST_F(ImageFolders, AClassMayBeALink) {
  link("bird", "../elsewhere");
  EXPECT_EQ(listed(), (Names{"bird/deep/3.jpg", "cat/1.jpg", "dog/2.png"}));
}

TEST_F(ImageFolders, LoopsGiveEachImageOnceAndAreSaid) {
  link("cat/here", ".");
  link("cat/up", "..");
  link("cat/root", "/");
  link("all", ".");
  EXPECT_EQ(listed(), (Names{"cat/1.jpg", "dog/2.png"}));
  EXPECT_NE(said_.find("photos/all leads to a folder that is listed already"), said_.npos) << said_;
}

TEST_F(ImageFolders, ClassesThatLinkToEachOtherKeepTheirOwnImages) {
  link("cat/to", "../dog");
  link("dog/to", "../cat");
  EXPECT_EQ(listed(), (Names{"cat/1.jpg", "dog/2.png"}));
}

// Followed path by path, these are 2^12 and more.
TEST_F(ImageFolders, FoldersThatAllLinkToEachOtherEnd) {
  for (int i = 0; i < 12; ++i) {
    const std::string name = "cat/" + std::to_string(i);
    temp_.write("photos/" + name + "/a.jpg", "x");
    for (int k = 0; k < 12; ++k) link(name + "/to" + std::to_string(k), "../" + std::to_string(k));
  }
  EXPECT_EQ(listed().size(), 2u + 12u);
}

TEST_F(ImageFolders, AFolderKeepsItsOwnNameBesideALinkToIt) {
  temp_.write("photos/cat/real/4.jpg", "x");
  link("cat/alias", "real");
  EXPECT_EQ(listed(), (Names{"cat/1.jpg", "cat/real/4.jpg", "dog/2.png"}));
}

TEST_F(ImageFolders, ALinkToNothingIsListedToBeNamedWhenItIsRead) {
  std::filesystem::create_symlink("gone.jpg", temp_.path("photos/cat/0.jpg"));
  EXPECT_EQ(listed()[0], "cat/0.jpg");
}

}  // namespace
}  // namespace headway
