#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "headway/probe/native/call_frames.h"
#include "headway/probe/native/code_map.h"
#include "headway/probe/native/function_names.h"

namespace headway {

// A program or library whose code watched processes run.
struct NativeImage {
  std::string library{};  // file name without folders: "libtorch_cpu.so"
  std::shared_ptr<const ElfImage> file;
  std::unique_ptr<CallFrames> frames;  // nullptr: none described
  FunctionNames names;
};

// All images seen so far, each opened once however many processes have loaded it. Not for several
// threads.
class NativeImages {
 public:
  // nullptr: it cannot be opened, is not a 64-bit ELF file, or there are too many.
  NativeImage* of(pid_t pid, const FileUser& user, const CodeMap::Piece& piece);
  // Reads on in their symbol tables, until this moment.
  void prepare(int64_t until_ns);
  size_t kept_bytes() const;

 private:
  struct Key {
    uint64_t inode;
    std::string path;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::unique_ptr<NativeImage>> images_;
};

}  // namespace headway
