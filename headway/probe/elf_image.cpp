#include "headway/probe/elf_image.h"

#include <algorithm>
#include <cstring>

namespace headway {
namespace {

constexpr size_t kMostSegments = 128, kMostSections = 4096;
constexpr uint64_t kLargestPart = 1 << 20;

}  // namespace

std::optional<ElfImage> ElfImage::open(TargetFile file) {
  ElfImage out(std::move(file));
  const auto headers = out.table<Elf64_Ehdr>(0, 1);
  if (headers.empty()) return std::nullopt;
  const Elf64_Ehdr& header = headers[0];
  const unsigned char* kind = header.e_ident;
  if (std::memcmp(kind, ELFMAG, SELFMAG) != 0 || kind[EI_CLASS] != ELFCLASS64 ||
      kind[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  if (header.e_phentsize == sizeof(Elf64_Phdr))
    out.segments_ =
        out.table<Elf64_Phdr>(header.e_phoff, std::min<size_t>(header.e_phnum, kMostSegments));
  if (header.e_shentsize == sizeof(Elf64_Shdr))
    out.sections_ =
        out.table<Elf64_Shdr>(header.e_shoff, std::min<size_t>(header.e_shnum, kMostSections));
  out.section_names_ = header.e_shstrndx;
  return out;
}

std::string ElfImage::part(uint64_t offset, uint64_t bytes) const {
  if (offset > file_.size()) return "";
  std::string out(std::min({bytes, file_.size() - offset, kLargestPart}), '\0');
  out.resize(file_.read(offset, out.data(), out.size()));
  return out;
}

std::optional<uint64_t> ElfImage::address_of(uint64_t offset) const {
  for (const Elf64_Phdr& each : segments_)
    if (each.p_type == PT_LOAD && offset >= each.p_offset && offset - each.p_offset < each.p_filesz)
      return each.p_vaddr + (offset - each.p_offset);
  return std::nullopt;
}

std::optional<uint64_t> ElfImage::offset_of(uint64_t address) const {
  for (const Elf64_Phdr& each : segments_)
    if (each.p_type == PT_LOAD && address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz)
      return each.p_offset + (address - each.p_vaddr);
  return std::nullopt;
}

}  // namespace headway
