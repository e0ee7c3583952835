#pragma once

#include <string>
#include <vector>

#include "headway/probe/process/elf_image.h"

namespace headway {

// What a shared library says to the dynamic loader.
struct ElfDynamic {
  std::string soname{};               // the name under which others ask for it; empty: none
  std::vector<std::string> needed{};  // libraries that it asks for
};
ElfDynamic dynamic_of(const ElfImage& image);

}  // namespace headway
