#include "headway/probe/process/elf_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

bool ElfImage::has_section(uint32_t type) const {
  return std::any_of(sections_.begin(), sections_.end(),
                     [&](const Elf64_Shdr& each) { return each.sh_type == type; });
}

std::string ElfImage::build_id() const {
  constexpr uint64_t kMostNotes = 64 << 10, kLongestId = 64, kWord = 4;
  const auto padded = [](uint64_t bytes) { return (bytes + kWord - 1) / kWord * kWord; };
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_NOTE) continue;
    const std::string notes = part(section.sh_offset, std::min(section.sh_size, kMostNotes));
    const TargetBytes view(notes.data(), notes.size());
    for (uint64_t at = 0; at < notes.size();) {
      const auto note = view.at<Elf64_Nhdr>(at);
      if (!note) break;
      const uint64_t name = at + sizeof *note, id = name + padded(note->n_namesz);
      const bool is_id =
          note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
          view.at<std::array<char, sizeof ELF_NOTE_GNU>>(name) == std::to_array(ELF_NOTE_GNU);
      if (is_id && note->n_descsz <= kLongestId && id + note->n_descsz <= notes.size()) {
        std::string out;
        for (const char byte : notes.substr(id, note->n_descsz))
          out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
        return out;
      }
      at = id + padded(note->n_descsz);
    }
  }
  return "";
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
