#include "headway/probe/native/native_images.h"

namespace headway {
namespace {

constexpr size_t kMostImages = 100;  // each is an open file
constexpr uint64_t kLargestFile = uint64_t{4} << 30;

std::unique_ptr<NativeImage> open_image(pid_t pid, const FileUser& user,
                                        const CodeMap::Piece& piece) {
  auto file =
      TargetFile::open(pid, user, piece.path, TargetFile::Owner::kUserOrEverybody, kLargestFile);
  if (!file || file->inode() != piece.inode) return nullptr;
  auto elf = ElfImage::open(std::move(*file));
  if (!elf) return nullptr;
  auto image = std::make_shared<const ElfImage>(std::move(*elf));
  return std::make_unique<NativeImage>(NativeImage{piece.path.substr(piece.path.rfind('/') + 1),
                                                   image, CallFrames::of(image),
                                                   FunctionNames(image)});
}

}  // namespace

NativeImage* NativeImages::of(pid_t pid, const FileUser& user, const CodeMap::Piece& piece) {
  if (piece.inode == 0) return nullptr;
  const Key key{piece.inode, piece.path};
  auto found = images_.find(key);
  if (found == images_.end()) {
    if (images_.size() >= kMostImages) return nullptr;
    found = images_.emplace(key, open_image(pid, user, piece)).first;
  }
  return found->second.get();
}

void NativeImages::prepare(int64_t until_ns) {
  for (auto& [key, image] : images_)
    if (image && !image->names.prepare(until_ns)) return;
}

size_t NativeImages::kept_bytes() const {
  size_t out = 0;
  for (const auto& [key, image] : images_)
    if (image) out += image->names.kept_bytes() + (image->frames ? image->frames->kept_bytes() : 0);
  return out;
}

}  // namespace headway
