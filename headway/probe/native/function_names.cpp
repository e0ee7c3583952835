#include "headway/probe/native/function_names.h"

#include <algorithm>

#include "headway/core/clock.h"

namespace headway {
namespace {

constexpr uint64_t kAtOnce = 16 << 10, kMostSymbols = 4 << 20;
constexpr size_t kLongestName = 2000, kMostAliases = 32;

constexpr size_t kLongestTold = 120;

}  // namespace

std::string readable_name(const std::string& name) {
  if (!name.starts_with("_Z")) return name.substr(0, kLongestTold);
  std::string out;
  size_t at = 2;
  while (at < name.size() && (name[at] == 'N' || name[at] == 'Z' || name[at] == 'K')) ++at;
  while (at < name.size() && out.size() < kLongestTold) {
    if (name.compare(at, 2, "St") == 0) {
      out += "std::", at += 2;
      continue;
    }
    size_t length = 0, digits = at;
    while (digits < name.size() && digits - at < 4 && name[digits] >= '0' && name[digits] <= '9')
      length = 10 * length + static_cast<size_t>(name[digits++] - '0');
    if (length == 0 || length > name.size() - digits) break;
    const std::string word = name.substr(digits, length);
    out += (word.starts_with("_GLOBAL__N") ? "" : word + "::");
    at = digits + length;
  }
  if (out.size() < 2) return name.substr(0, kLongestTold);
  return out.substr(0, std::min(out.size() - 2, kLongestTold));
}

FunctionNames::FunctionNames(std::shared_ptr<const ElfImage> image) : image_(std::move(image)) {
  const auto& sections = image_->sections();
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {  // the second is a subset of the first
    for (const Elf64_Shdr& section : sections) {
      if (section.sh_type != type || section.sh_link >= sections.size() || count_ > 0) continue;
      symbols_ = section, names_ = sections[section.sh_link];
      count_ = std::min(section.sh_size / sizeof(Elf64_Sym), kMostSymbols);
    }
  }
}

bool FunctionNames::prepare(int64_t until_ns) {
  while (next_ < count_ && now_ns() < until_ns) {
    const auto piece = image_->table<Elf64_Sym>(symbols_.sh_offset + next_ * sizeof(Elf64_Sym),
                                                std::min(kAtOnce, count_ - next_));
    for (const Elf64_Sym& symbol : piece) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      if (symbol.st_size == 0 || symbol.st_size > UINT32_MAX) continue;
      functions_.push_back(
          {symbol.st_value, static_cast<uint32_t>(symbol.st_size), symbol.st_name});
    }
    next_ = piece.empty() ? count_ : next_ + piece.size();
  }
  if (next_ < count_) return false;
  if (!ready_)
    std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.name < b.name;
    });
  return ready_ = true;
}

std::string FunctionNames::at(uint64_t address) const {
  if (!ready_) return "";
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t a, const Function& f) { return a < f.begin; });
  if (after == functions_.begin()) return "";
  const uint64_t begin = std::prev(after)->begin;
  // Several may begin there: take the first in file order that reaches this address.
  for (size_t n = 0;
       n < kMostAliases && after != functions_.begin() && std::prev(after)->begin == begin; ++n)
    --after;
  for (; after != functions_.end() && after->begin == begin; ++after) {
    if (address - begin >= after->size || after->name >= names_.sh_size) continue;
    std::string name = image_->part(names_.sh_offset + after->name, kLongestName);
    name.resize(std::min(name.size(), name.find('\0')));
    return name;
  }
  return "";
}

}  // namespace headway
