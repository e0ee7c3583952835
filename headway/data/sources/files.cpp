#include <fmt/format.h>

#include <filesystem>

#include "headway/data/sources/folder_walk.h"
#include "headway/data/sources/sources.h"

namespace headway {
namespace {

const Name& path_field() {
  static const Name name("path");
  return name;
}
const Name& label_name() {
  static const Name name("label");
  return name;
}

void put_path(const PathList& paths, int64_t i, Element& out) {
  auto path = std::make_shared<std::string>();
  paths.path(i, *path);
  out.append(path_field(), Tensor::string(*path));
  out.set_origin(std::move(path));
}

class FilesNode : public Node {
 public:
  FilesNode(std::shared_ptr<const PathList> paths, std::string description, bool samples)
      : paths_(std::move(paths)), description_(std::move(description)), samples_(samples) {
    traits_ = {.indexed = true, .facts = {.lists_files = samples}};
  }
  std::string describe() const override {
    return fmt::format("files({}, {} files)", description_, paths_->size());
  }
  int64_t cardinality() const override { return paths_->size(); }
  void at(int64_t i, int64_t, const SampleContext&, Element& out) const override {
    put_path(*paths_, i, out);
  }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<FilesNode>(paths_, description_, samples_);
  }

 private:
  std::shared_ptr<const PathList> paths_;
  std::string description_;
  bool samples_;
};

class ImageFolderNode : public Node {
 public:
  ImageFolderNode(std::string root, std::shared_ptr<const ImageFolder> folder)
      : root_(std::move(root)), folder_(std::move(folder)) {
    traits_ = {.indexed = true, .facts = {.lists_files = true}};
  }
  std::string describe() const override {
    return fmt::format("image_folder({}, {} files in {} classes)", root_, folder_->labels.size(),
                       folder_->classes.size());
  }
  int64_t cardinality() const override { return folder_->labels.size(); }
  void at(int64_t i, int64_t, const SampleContext&, Element& out) const override {
    put_path(*folder_->paths, i, out);
    out.append(label_name(), Tensor::scalar<int64_t>(folder_->labels[i]));
  }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<ImageFolderNode>(root_, folder_);
  }

 private:
  std::string root_;
  std::shared_ptr<const ImageFolder> folder_;
};

}  // namespace

NodePtr make_files(std::shared_ptr<const PathList> paths, std::string description, bool samples) {
  return std::make_shared<FilesNode>(std::move(paths), std::move(description), samples);
}

ImageFolder list_image_folder(const std::string& root) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(root)) {
    throw Error(fmt::format("image_folder: {} is not a folder", root),
                "give a folder that holds one folder of images per class");
  }
  FolderWalk walk(root);
  const auto& folders = walk.classes();
  ImageFolder folder;
  auto paths = std::make_shared<PathList>();
  for (const fs::path& f : folders) {
    const auto label = static_cast<int32_t>(folder.classes.size());
    folder.classes.push_back(f.filename().string());
    for (const std::string& name : walk.images_below(f)) {
      paths->append(f.string(), name);
      folder.labels.push_back(label);
    }
  }
  if (folder.labels.empty()) {
    throw Error(fmt::format("image_folder: the {} folders in {} hold no .jpg, .jpeg or .png files",
                            folders.size(), root),
                folders.empty()
                    ? "put the images into one folder per class, as in " + root + "/cat/001.jpg"
                    : "check the path and the files' endings");
  }
  folder.paths = std::move(paths);
  return folder;
}

NodePtr make_image_folder(std::string root, ImageFolder folder) {
  return std::make_shared<ImageFolderNode>(std::move(root),
                                           std::make_shared<const ImageFolder>(std::move(folder)));
}

}  // namespace headway
