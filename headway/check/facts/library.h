#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headway/check/facts.h"
#include "headway/probe/process/elf_image.h"

// Libraries as the dynamic loader sees them. Nothing of them is run.
namespace headway {

// Nothing if it is no 64-bit program or library of this kind of machine.
std::optional<ElfImage> open_library(const std::string& path);

// What the loader would load with this program or library, asked of the loader itself, in this
// environment.
struct LoaderAnswer {
  std::string trouble{};  // why it could not be asked, or what it could not load
  std::vector<LoadedLibrary> libraries{};
};
LoaderAnswer libraries_of(const std::string& file);

// The folders of LD_LIBRARY_PATH, in order.
std::vector<std::string> library_path();
// The libraries in the loader's cache whose name begins like this: what `ldconfig -p` prints.
std::vector<LoadedLibrary> cached_libraries(const std::string& prefix);

// Can files be opened as libraries at all? Not without /proc.
bool can_open_libraries();

// Is this BLAS the plain one: no OpenBLAS, MKL, BLIS or ATLAS, nor a way to one of them? Nothing if
// it cannot be read.
std::optional<bool> is_reference_blas(const std::string& path);
// The BLAS among these libraries; nothing if there is none.
std::optional<BlasFacts> blas_among(const std::vector<LoadedLibrary>& libraries,
                                    const std::string& user);

}  // namespace headway
