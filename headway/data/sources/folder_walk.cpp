#include "headway/data/sources/folder_walk.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "headway/core/log.h"
#include "headway/core/regular_file.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

bool looks_like_image(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (name.starts_with('.')) return false;
  return name.ends_with(".jpg") || name.ends_with(".jpeg") || name.ends_with(".png");
}

bool leads_to_folder(const fs::directory_entry& entry) {
  std::error_code nowhere;  // a link to nothing, or to itself
  return entry.is_directory(nowhere);
}

}  // namespace

FolderWalk::FolderWalk(const fs::path& root) {
  for (fs::path above = fs::canonical(root);; above = above.parent_path()) {
    closed_.insert(identity_of(above));
    if (above == above.root_path()) break;
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.path().filename().string().starts_with('.') || !leads_to_folder(entry)) continue;
    if (closed_.contains(identity_of(entry.path()))) {
      leave_out(entry.path());
    } else {
      classes_.push_back(entry.path());
    }
  }
  for (const fs::path& folder : classes_) closed_.insert(identity_of(folder));
  std::sort(classes_.begin(), classes_.end());
}

std::vector<std::string> FolderWalk::images_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::set<Identity> seen = closed_;
  std::vector<fs::path> folders = {folder};
  std::set<fs::path>
      links;  // followed when no folder is left, so that folders keep their own names
  while (!folders.empty() || !links.empty()) {
    if (folders.empty()) {
      const fs::path link = links.extract(links.begin()).value();
      if (seen.insert(identity_of(link)).second) folders.push_back(link);
      else leave_out(link);
      continue;
    }
    const fs::path here = std::move(folders.back());
    folders.pop_back();
    for (const auto& entry : fs::directory_iterator(here)) {
      if (!leads_to_folder(entry)) {
        if (looks_like_image(entry.path().filename().string()))
          names.push_back(entry.path().lexically_relative(folder).string());
      } else if (entry.is_symlink()) {
        links.insert(entry.path());
      } else if (seen.insert(identity_of(entry.path())).second) {
        folders.push_back(entry.path());
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

FolderWalk::Identity FolderWalk::identity_of(const fs::path& folder) {
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0)
    throw_io_error(folder.string(), "cannot look at", errno);
  return {status.st_dev, status.st_ino};
}

void FolderWalk::leave_out(const fs::path& link) {
  if (std::exchange(told_, true)) return;
  log(LogLevel::kWarning,
      fmt::format("image_folder: {} leads to a folder that is listed already; such links are not "
                  "followed",
                  link.string()));
}

}  // namespace headway
