#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headway {

// Lists the images below the folders of `root`, one folder per class. Links to folders are
// followed, but whatever they make of the tree, a folder is visited once for a class, under its own
// name if it has one there, and a link never leads back to the root, to what holds the root, or
// into another class: a loop ends where it would begin again, and a log line names the first link
// left out.
class FolderWalk {
 public:
  explicit FolderWalk(const std::filesystem::path& root);

  const std::vector<std::filesystem::path>& classes() const { return classes_; }  // sorted
  // Names of the images in `folder` and below it, relative to it, sorted.
  std::vector<std::string> images_below(const std::filesystem::path& folder);

 private:
  using Identity = std::pair<uint64_t, uint64_t>;  // device and inode
  static Identity identity_of(const std::filesystem::path& folder);
  void leave_out(const std::filesystem::path& link);

  std::vector<std::filesystem::path> classes_;
  std::set<Identity> closed_;  // no link is followed to these
  bool told_ = false;
};

}  // namespace headway
