#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headway/probe/process/elf_image.h"

namespace headway {

// Addresses of names in a program or shared library, as written in the file: for the address in
// memory add the load address minus `base`.
struct ElfSymbols {
  uint64_t base = 0;                           // lowest address of the loaded parts
  std::map<std::string, uint64_t> symbols{};   // those asked for and found
  std::map<std::string, uint64_t> sections{};  // likewise
};

// Looks for `names` among symbols (dynamic and, where not stripped, static) and sections. Only the
// first 16 MiB of a table are looked at, and only the first of a kind.
ElfSymbols find_elf_symbols(const ElfImage& image, const std::vector<std::string>& names);

}  // namespace headway
