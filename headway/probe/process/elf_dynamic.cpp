#include "headway/probe/process/elf_dynamic.h"

#include <elf.h>

#include <cstring>

namespace headway {
namespace {

constexpr uint64_t kMostEntries = 4096, kLongestName = 512;

std::string name_at(const ElfImage& image, uint64_t names, uint64_t offset) {
  if (offset > (uint64_t{1} << 32)) return "";
  const std::string bytes = image.part(names + offset, kLongestName);
  const size_t end = bytes.find('\0');
  return end == std::string::npos ? "" : bytes.substr(0, end);
}

}  // namespace

ElfDynamic dynamic_of(const ElfImage& image) {
  ElfDynamic out;
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto entries = image.table<Elf64_Dyn>(
        segment.p_offset, std::min<uint64_t>(segment.p_filesz / sizeof(Elf64_Dyn), kMostEntries));
    std::optional<uint64_t> names;
    for (const Elf64_Dyn& entry : entries)
      if (entry.d_tag == DT_STRTAB) names = image.offset_of(entry.d_un.d_ptr);
    if (!names) return out;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_SONAME) out.soname = name_at(image, *names, entry.d_un.d_val);
      if (entry.d_tag == DT_NEEDED) out.needed.push_back(name_at(image, *names, entry.d_un.d_val));
    }
    return out;
  }
  return out;
}

}  // namespace headway
