#include "headway/probe/process/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "headway/probe/process/target_bytes.h"

namespace headway {
namespace {

constexpr size_t kMostPlaces = 16;
constexpr size_t kAtOnce = 1 << 16;
constexpr uint64_t kLargestTable = 16 << 20, kSectionNames = 1 << 20;

uint64_t lowest_loaded(const ElfImage& image) {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  uint64_t lowest = kNone;
  for (const Elf64_Phdr& segment : image.segments())
    if (segment.p_type == PT_LOAD)
      lowest = std::min<uint64_t>(lowest, segment.p_vaddr & ~uint64_t{4095});
  return lowest == kNone ? 0 : lowest;
}

// File offsets, within a table of names, of `name` with its closing 0.
std::vector<uint64_t> places_of(const std::string& name, const ElfImage& image,
                                const Elf64_Shdr& names, uint64_t most_bytes) {
  std::vector<uint64_t> out;
  const std::string_view wanted(name.c_str(), name.size() + 1);
  const uint64_t size = std::min<uint64_t>(names.sh_size, most_bytes);
  for (uint64_t from = 0; from < size; from += kAtOnce) {
    // Reads a little more than a piece: a name may cross its end.
    const std::string bytes =
        image.part(names.sh_offset + from, std::min(size - from, kAtOnce + wanted.size() - 1));
    for (size_t at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1))
      if (out.size() < kMostPlaces) out.push_back(from + at);
    if (bytes.size() < kAtOnce) break;
  }
  return out;
}

void read_symbols(const ElfImage& image, const Elf64_Shdr& symbols, const Elf64_Shdr& names,
                  const std::vector<std::string>& wanted, ElfSymbols& out) {
  std::map<uint64_t, const std::string*> by_place;
  for (const std::string& name : wanted)
    for (const uint64_t place : places_of(name, image, names, kLargestTable))
      by_place[place] = &name;
  if (by_place.empty()) return;
  constexpr size_t kSymbols = kAtOnce / sizeof(Elf64_Sym);
  const uint64_t count = std::min(symbols.sh_size, kLargestTable) / sizeof(Elf64_Sym);
  for (uint64_t from = 0; from < count; from += kSymbols) {
    const auto piece = image.table<Elf64_Sym>(symbols.sh_offset + from * sizeof(Elf64_Sym),
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

ElfSymbols find_elf_symbols(const ElfImage& image, const std::vector<std::string>& names) {
  ElfSymbols out;
  out.base = lowest_loaded(image);
  const auto& sections = image.sections();
  std::array<bool, 2> seen{};  // the static table, the dynamic one
  for (const Elf64_Shdr& section : sections) {
    const bool dynamic = section.sh_type == SHT_DYNSYM;
    if ((!dynamic && section.sh_type != SHT_SYMTAB) || section.sh_link >= sections.size()) continue;
    if (std::exchange(seen[dynamic], true)) continue;
    read_symbols(image, section, sections[section.sh_link], names, out);
  }
  if (image.section_names() >= sections.size()) return out;
  for (const std::string& name : names)
    for (const uint64_t place :
         places_of(name, image, sections[image.section_names()], kSectionNames))
      for (const Elf64_Shdr& section : sections)
        if (section.sh_name == place) out.sections[name] = section.sh_addr;
  return out;
}

}  // namespace headway
