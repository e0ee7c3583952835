#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headway/probe/process/elf_image.h"

namespace headway {

// Names of the functions of a program or library, from its symbol table. Large tables have a
// million symbols: they are read piece by piece, and names only when asked for. An address that is
// in no function gets no name, because the nearest one would be a guess.
class FunctionNames {
 public:
  explicit FunctionNames(std::shared_ptr<const ElfImage> image);

  // Reads on, until this moment (of now_ns) at most; true once everything is read.
  bool prepare(int64_t until_ns);
  bool ready() const { return ready_; }
  // Mangled, as in the symbol table; empty: none, or not read yet.
  std::string at(uint64_t address) const;
  size_t kept_bytes() const { return functions_.capacity() * sizeof(Function); }

 private:
  struct Function {
    uint64_t begin = 0;
    uint32_t size = 0, name = 0;
  };

  std::shared_ptr<const ElfImage> image_;
  Elf64_Shdr symbols_{}, names_{};
  uint64_t next_ = 0, count_ = 0;  // symbols read so far; all symbols
  bool ready_ = false;
  std::vector<Function> functions_;
};

// The names in a mangled name up to its first argument: "_ZN4gloo9allreduceEi" ->
// "gloo::allreduce". We parse it ourselves: a malicious name could make a demangler use up all
// memory.
std::string readable_name(const std::string& name);

}  // namespace headway
