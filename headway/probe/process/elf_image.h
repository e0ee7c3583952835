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

// A 64-bit program or library as its file says it is: read in pieces, never mapped (a file that
// becomes shorter would kill us), and never believed: what lies outside the file is not there.
// Addresses are those of the file, before it is loaded anywhere. Not for several threads.
class ElfImage {
 public:
  // Nothing when it is no such file.
  static std::optional<ElfImage> open(TargetFile file);

  // Up to `bytes` from that place, 1 MiB at most; fewer where the file ends.
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
  size_t section_names() const { return section_names_; }  // which section has their names
  bool has_section(uint32_t type) const;
  // What its linker called this very build, in hexadecimal; empty: it says nothing.
  std::string build_id() const;
  // Between a place in the file and the address it is loaded at.
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
