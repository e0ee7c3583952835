#include "headway/probe/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "headway/probe/target_bytes.h"

namespace headway {
namespace {

constexpr size_t kMostSegments = 128, kMostSections = 4096, kMostPlaces = 16;
constexpr size_t kAtOnce = 1 << 16;
constexpr uint64_t kLargestTable = 16 << 20, kSectionNames = 1 << 20;

// A part of the file, of which `size` bytes were promised.
std::string part(const TargetFile& file, uint64_t offset, uint64_t size) {
  if (offset > file.size()) return "";
  std::string out(std::min(size, file.size() - offset), '\0');
  out.resize(file.read(offset, out.data(), out.size()));
  return out;
}

template <typename Entry>
std::vector<Entry> table(const TargetFile& file, uint64_t offset, size_t count) {
  const std::string bytes = part(file, offset, count * sizeof(Entry));
  const TargetBytes view(bytes.data(), bytes.size());
  std::vector<Entry> out;
  for (size_t i = 0; i < count; ++i)
    if (const auto entry = view.at<Entry>(i * sizeof(Entry))) out.push_back(*entry);
  return out;
}

std::optional<Elf64_Ehdr> header_of(const TargetFile& file) {
  const auto header = table<Elf64_Ehdr>(file, 0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const unsigned char* kind = header[0].e_ident;
  if (kind[EI_CLASS] != ELFCLASS64 || kind[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  return header[0];
}

uint64_t lowest_loaded(const TargetFile& file, const Elf64_Ehdr& header) {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  uint64_t lowest = kNone;
  const size_t count = std::min<size_t>(header.e_phnum, kMostSegments);
  for (const Elf64_Phdr& segment : table<Elf64_Phdr>(file, header.e_phoff, count))
    if (segment.p_type == PT_LOAD)
      lowest = std::min<uint64_t>(lowest, segment.p_vaddr & ~uint64_t{4095});
  return lowest == kNone ? 0 : lowest;
}

// Where `name` and its closing 0 stand in a table of names, in the file's own count.
std::vector<uint64_t> places_of(const std::string& name, const TargetFile& file,
                                const Elf64_Shdr& names, uint64_t most_bytes) {
  std::vector<uint64_t> out;
  const std::string_view wanted(name.c_str(), name.size() + 1);
  const uint64_t size = std::min<uint64_t>(names.sh_size, most_bytes);
  for (uint64_t from = 0; from < size; from += kAtOnce) {
    // A little more than a piece: a name may stand across its end.
    const std::string bytes =
        part(file, names.sh_offset + from, std::min(size - from, kAtOnce + wanted.size() - 1));
    for (size_t at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1))
      if (out.size() < kMostPlaces) out.push_back(from + at);
    if (bytes.size() < kAtOnce) break;
  }
  return out;
}

void read_symbols(const TargetFile& file, const Elf64_Shdr& symbols, const Elf64_Shdr& names,
                  const std::vector<std::string>& wanted, ElfSymbols& out) {
  std::map<uint64_t, const std::string*> by_place;
  for (const std::string& name : wanted)
    for (const uint64_t place : places_of(name, file, names, kLargestTable))
      by_place[place] = &name;
  if (by_place.empty()) return;
  constexpr size_t kSymbols = kAtOnce / sizeof(Elf64_Sym);
  const uint64_t count = std::min(symbols.sh_size, kLargestTable) / sizeof(Elf64_Sym);
  for (uint64_t from = 0; from < count; from += kSymbols) {
    const auto piece = table<Elf64_Sym>(file, symbols.sh_offset + from * sizeof(Elf64_Sym),
                                        std::min<uint64_t>(kSymbols, count - from));
    for (const Elf64_Sym& symbol : piece) {
      if (symbol.st_value == 0) continue;
      const auto name = by_place.find(symbol.st_name);
      if (name != by_place.end()) out.symbols[*name->second] = symbol.st_value;
    }
    if (piece.size() < kSymbols) break;
  }
}

}  // namespace

ElfSymbols find_elf_symbols(const TargetFile& file, const std::vector<std::string>& names) {
  ElfSymbols out;
  const auto header = header_of(file);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return out;
  out.base = lowest_loaded(file, *header);
  const auto sections =
      table<Elf64_Shdr>(file, header->e_shoff, std::min<size_t>(header->e_shnum, kMostSections));
  std::array<bool, 2> seen{};  // the static table, the dynamic one
  for (const Elf64_Shdr& section : sections) {
    const bool dynamic = section.sh_type == SHT_DYNSYM;
    if ((!dynamic && section.sh_type != SHT_SYMTAB) || section.sh_link >= sections.size()) continue;
    if (std::exchange(seen[dynamic], true)) continue;
    read_symbols(file, section, sections[section.sh_link], names, out);
  }
  if (header->e_shstrndx >= sections.size()) return out;
  for (const std::string& name : names)
    for (const uint64_t place : places_of(name, file, sections[header->e_shstrndx], kSectionNames))
      for (const Elf64_Shdr& section : sections)
        if (section.sh_name == place) out.sections[name] = section.sh_addr;
  return out;
}

}  // namespace headway
