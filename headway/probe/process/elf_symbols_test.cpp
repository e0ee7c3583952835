#include "headway/probe/process/elf_symbols.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace headway {
namespace {

const std::vector<std::string> kNames = {"_PyRuntime", ".PyRuntime", "Py_Version"};

template <typename T>
void append(std::string& to, const T& what) {
  to.append(reinterpret_cast<const char*>(&what), sizeof what);
}

// A small library: one loaded segment at 0x400000, a dynamic and a static symbol table, a section
// called .PyRuntime.
std::string library() {
  const std::string names("\0other\0_PyRuntime\0Py_Version\0", 29);
  const std::string section_names("\0.PyRuntime\0.rest\0", 18);
  const uint64_t segments = sizeof(Elf64_Ehdr), names_at = segments + sizeof(Elf64_Phdr);
  const uint64_t section_names_at = names_at + names.size();
  const uint64_t symbols_at = section_names_at + section_names.size();
  const uint64_t sections_at = symbols_at + 3 * sizeof(Elf64_Sym);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = segments, header.e_phnum = 1, header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shoff = sections_at, header.e_shnum = 6, header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shstrndx = 2;
  std::string out;
  append(out, header);
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD, segment.p_vaddr = 0x400123;
  append(out, segment);
  out += names + section_names;
  const auto symbol = [&](uint32_t name, uint64_t value) {
    Elf64_Sym entry{};
    entry.st_name = name, entry.st_value = value;
    append(out, entry);
  };
  symbol(1, 0x1), symbol(7, 0x401000), symbol(18, 0x402000);
  const auto section = [&](uint32_t name, uint32_t type, uint64_t at, uint64_t size,
                           uint32_t link = 0, uint64_t address = 0) {
    Elf64_Shdr entry{};
    entry.sh_name = name, entry.sh_type = type, entry.sh_addr = address, entry.sh_link = link;
    entry.sh_offset = at, entry.sh_size = size;
    append(out, entry);
  };
  section(0, SHT_NULL, 0, 0);
  section(0, SHT_STRTAB, names_at, names.size());
  section(0, SHT_STRTAB, section_names_at, section_names.size());
  section(12, SHT_DYNSYM, symbols_at, 2 * sizeof(Elf64_Sym), 1);
  section(12, SHT_SYMTAB, symbols_at, 3 * sizeof(Elf64_Sym), 1);
  section(1, SHT_PROGBITS, 0, 0, 0, 0x403000);
  return out;
}

ElfSymbols look_into(const std::string& bytes, uint64_t size = 0) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("headway_elf_{}", getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  if (size > 0) std::filesystem::resize_file(path, size);  // followed by a hole
  auto file = TargetFile::open(getpid(), *file_user_of(getpid()), path, TargetFile::Owner::kAny,
                               uint64_t{1} << 40);
  std::filesystem::remove(path);
  EXPECT_TRUE(file);
  const auto image = ElfImage::open(std::move(*file));
  return image ? find_elf_symbols(*image, kNames) : ElfSymbols{};
}

TEST(ElfSymbols, NamesOfSymbolsAndSectionsAreFound) {
  const ElfSymbols found = look_into(library());
  EXPECT_EQ(found.base, 0x400000u);
  EXPECT_EQ(found.symbols.at("_PyRuntime"), 0x401000u);
  EXPECT_EQ(found.symbols.at("Py_Version"), 0x402000u);
  EXPECT_EQ(found.sections.at(".PyRuntime"), 0x403000u);
}

TEST(ElfSymbols, WhatIsNoLibraryHasNone) {
  EXPECT_TRUE(look_into("").symbols.empty());
  EXPECT_TRUE(look_into("#!/bin/sh\n").symbols.empty());
  EXPECT_TRUE(look_into(library().substr(0, 70)).symbols.empty());
}

// 128 GiB of names and symbols: only a part of them is read.
TEST(ElfSymbols, TablesWithoutEndAreCutShort) {
  std::string bytes = library();
  constexpr size_t kSections = 6;
  for (size_t i = 1; i < kSections; ++i) {
    char* section = bytes.data() + bytes.size() - (kSections - i) * sizeof(Elf64_Shdr);
    const uint64_t size = ~uint64_t{0};
    std::memcpy(section + offsetof(Elf64_Shdr, sh_size), &size, sizeof size);
  }
  EXPECT_EQ(look_into(bytes, uint64_t{128} << 30).symbols.at("_PyRuntime"), 0x401000u);
}

// False numbers in headers and tables, truncated files: any answer is fine, but no crash.
TEST(ElfSymbols, LiesAreSurvived) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = library();
    for (uint64_t n = 1 + random() % 4; n > 0; --n) {
      const uint64_t value = random() % 2 ? ~uint64_t{0} >> random() % 64 : random() % 1000;
      const size_t width = size_t{1} << random() % 4;
      std::memcpy(bytes.data() + random() % (bytes.size() - 8), &value, width);
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    look_into(bytes);
  }
}

}  // namespace
}  // namespace headway
