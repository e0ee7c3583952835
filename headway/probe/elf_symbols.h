#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headway/probe/target_file.h"

namespace headway {

// Where names stand in a program or shared library, as written in the file: add the load address
// minus `base` for the place in memory.
struct ElfSymbols {
  uint64_t base = 0;                           // lowest address of what is loaded
  std::map<std::string, uint64_t> symbols{};   // those asked for and found
  std::map<std::string, uint64_t> sections{};  // likewise
};

// Looks for `names` among symbols (dynamic and, where not stripped, static) and sections of a
// 64-bit file. The file is read as the lie that it may be: nothing is mapped, tables of more than
// 64 MiB and more than the first of a kind are left alone. One that is no ELF gives an empty
// answer.
ElfSymbols find_elf_symbols(const TargetFile& file, const std::vector<std::string>& names);

}  // namespace headway
