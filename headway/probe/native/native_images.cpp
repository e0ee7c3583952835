#include "headway/probe/native/native_images.h"

#include <fmt/format.h>

namespace headway {
namespace {

constexpr size_t kMostImages = 100;  // each is an open file
constexpr uint64_t kLargestFile = uint64_t{4} << 30;

// Symbols that a distribution ships separately from a library (Debian: packages -dbg and -dbgsym).
std::shared_ptr<const ElfImage> kept_apart(pid_t pid, const FileUser& user, const ElfImage& image) {
  const std::string id = image.build_id();
  if (id.size() < 3) return nullptr;
  const std::string path =
      fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", id.substr(0, 2), id.substr(2));
  auto file = TargetFile::open(pid, user, path, TargetFile::Owner::kUserOrEverybody, kLargestFile);
  auto elf = file ? ElfImage::open(std::move(*file)) : std::nullopt;
  if (!elf || elf->build_id() != id || !elf->has_section(SHT_SYMTAB)) return nullptr;
  return std::make_shared<const ElfImage>(std::move(*elf));
}

std::unique_ptr<NativeImage> open_image(pid_t pid, const FileUser& user,
                                        const CodeMap::Piece& piece) {
  auto file =
      TargetFile::open(pid, user, piece.path, TargetFile::Owner::kUserOrEverybody, kLargestFile);
  if (!file || file->inode() != piece.inode) return nullptr;
  auto elf = ElfImage::open(std::move(*file));
  if (!elf) return nullptr;
  auto image = std::make_shared<const ElfImage>(std::move(*elf));
  auto named = image->has_section(SHT_SYMTAB) ? nullptr : kept_apart(pid, user, *image);
  return std::make_unique<NativeImage>(NativeImage{piece.path.substr(piece.path.rfind('/') + 1),
                                                   image, CallFrames::of(image),
                                                   FunctionNames(named ? named : image)});
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
