#pragma once

#include <array>
#include <optional>

#include "headway/io/images/libjpeg.h"

namespace headway {

// What libjpeg uses of its own reader of codes (info.entropy). No public header has it, and it is
// not the same everywhere: behind decode_mcu libjpeg-turbo 2 has a flag, 3 has two functions for
// lossless files and then that flag. While the rows of a file with one scan of Huffman codes are
// read, decode_mcu is called and nothing else; the flag may stay 0.
struct EntropyMethods {
  void (*start_pass)(j_decompress_ptr) = nullptr;
  boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW*) = nullptr;
  std::array<void*, 6> others{};
};

// How the libjpeg of this process reads files with one scan of Huffman codes. nullopt: it does not
// do it as said above, and its reader must stay in its place. Found out by one trial, which is safe
// with every libjpeg that calls its readers through pointers. Any thread.
const std::optional<EntropyMethods>& sequential_methods();

}  // namespace headway
