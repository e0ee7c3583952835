#include "headway/probe/elf_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace headway {
namespace {

bool wanted(const std::vector<std::string>& names, const char* name) {
  return name && std::find(names.begin(), names.end(), name) != names.end();
}

uint64_t lowest_loaded(Elf* elf) {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return 0;
  uint64_t lowest = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf, static_cast<int>(i), &header) || header.p_type != PT_LOAD) continue;
    lowest = std::min<uint64_t>(lowest, header.p_vaddr & ~(uint64_t{4095}));
  }
  return lowest == std::numeric_limits<uint64_t>::max() ? 0 : lowest;
}

void read_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                const std::vector<std::string>& names, ElfSymbols& out) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || header.sh_entsize == 0) return;
  const size_t count = header.sh_size / header.sh_entsize;
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, static_cast<int>(i), &symbol) || symbol.st_value == 0) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (wanted(names, name)) out.symbols[name] = symbol.st_value;
  }
}

}  // namespace

ElfSymbols find_elf_symbols(const std::string& path, const std::vector<std::string>& names) {
  ElfSymbols out;
  elf_version(EV_CURRENT);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr), elf_end);
  size_t section_names = 0;
  if (elf && elf_kind(elf.get()) == ELF_K_ELF &&
      elf_getshdrstrndx(elf.get(), &section_names) == 0) {
    out.base = lowest_loaded(elf.get());
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf.get(), section))) {
      GElf_Shdr header;
      if (!gelf_getshdr(section, &header)) continue;
      const char* name = elf_strptr(elf.get(), section_names, header.sh_name);
      if (wanted(names, name)) out.sections[name] = header.sh_addr;
      if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
        read_table(elf.get(), section, header, names, out);
    }
  }
  ::close(fd);
  return out;
}

}  // namespace headway
