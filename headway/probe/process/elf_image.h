#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headway/probe/process/target_bytes.h"
#include "headway/probe/process/target_file.h"

namespace headway {

// The contents of a 64-bit program or library. The file is read in pieces, never mapped (if it
// became shorter, that would kill us), and not trusted: offsets outside the file yield nothing.
// Addresses are those in the file, before loading. Not for several threads.
class ElfImage {
 public:
  // Nothing if it is not such a file.
  static std::optional<ElfImage> open(TargetFile file);

  // Up to `bytes` from that offset, 1 MiB at most; fewer at the end of the file.
  std::string part(uint64_t offset, uint64_t bytes) const;
  template <typename Entry>
  std::vector<Entry> table(uint64_t offset, uint64_t count) const {
    const std::string bytes = part(offset, std::min<uint64_t>(count, 1 << 20) * sizeof(Entry));
    const TargetBytes view(bytes.data(), bytes.size());
    std::vector<Entry> out;
    for (uint64_t i = 0; i < bytes.size() / sizeof(Entry); ++i)
      out.push_back(*view.at<Entry>(i * sizeof(Entry)));
    return out;
  }

  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  size_t section_names() const { return section_names_; }  // the section with their names
  bool has_section(uint32_t type) const;
  // The build id that the linker wrote, in hexadecimal; empty: none.
  std::string build_id() const;
  // The address at which the byte at this file offset is loaded.
  std::optional<uint64_t> address_of(uint64_t offset) const;
  std::optional<uint64_t> offset_of(uint64_t address) const;

 private:
  explicit ElfImage(TargetFile file) : file_(std::move(file)) {}

  TargetFile file_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  size_t section_names_ = 0;
};

}  // namespace headway
