#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headway/probe/process/elf_image.h"

namespace headway {

// Names of the functions of a program or library, from its table of symbols. Large ones have a
// million: they are read a piece at a time, and names themselves only when they are asked for. An
// address that lies in no function has no name; the nearest one would be a guess.
class FunctionNames {
 public:
  explicit FunctionNames(std::shared_ptr<const ElfImage> image);

  // Reads on until this moment (of now_ns) at most; true once there is nothing left to read.
  bool prepare(int64_t until_ns);
  bool ready() const { return ready_; }
  // As the compiler wrote it (mangled); empty: none, or not read yet.
  std::string at(uint64_t address) const;
  size_t kept_bytes() const { return functions_.capacity() * sizeof(Function); }

 private:
  struct Function {
    uint64_t begin = 0;
    uint32_t size = 0, name = 0;
  };

  std::shared_ptr<const ElfImage> image_;
  Elf64_Shdr symbols_{}, names_{};
  uint64_t next_ = 0, count_ = 0;  // symbols read, and there are
  bool ready_ = false;
  std::vector<Function> functions_;
};

// The names in a mangled name up to its first argument: "_ZN4gloo9allreduceEi" ->
// "gloo::allreduce". Read by ourselves: a name may be made so that a demangler needs all memory
// there is.
std::string readable_name(const std::string& name);

}  // namespace headway
