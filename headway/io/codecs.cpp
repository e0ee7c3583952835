#include "headway/io/codecs.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <isa-l.h>
#include <libdeflate.h>

#include "headway/io/images/jpeg_layout.h"

namespace headway {
namespace {

// The shared library that holds this function; empty where it was linked into the program.
template <typename Function>
std::string file_of(Function* function) {
  Dl_info library{}, ourselves{};
  if (dladdr(reinterpret_cast<void*>(function), &library) == 0) return "";
  dladdr(reinterpret_cast<void*>(&codec_libraries), &ourselves);
  return library.dli_fbase == ourselves.dli_fbase ? "" : library.dli_fname;
}

// Other libraries with this interface (IJG's, mozjpeg) do not say which libjpeg-turbo they are.
CodecLibrary libjpeg() {
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
  constexpr int kNumber = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005
  const std::string name = "libjpeg-turbo";
  const std::string version =
      fmt::format("{}.{}.{}", kNumber / 1000000, kNumber / 1000 % 1000, kNumber % 1000);
#else
  const std::string name = "libjpeg", version = fmt::format("{}", JPEG_LIB_VERSION);
#endif
  const char* reader = sequential_methods() ? "Headway's own" : "its own";
  return {name, version, file_of(jpeg_read_header),
          fmt::format("interface {}, {} reader of Huffman codes", JPEG_LIB_VERSION, reader)};
}

}  // namespace

std::vector<CodecLibrary> codec_libraries() {
  return {
      libjpeg(),
      {"libdeflate", LIBDEFLATE_VERSION_STRING, file_of(libdeflate_alloc_decompressor), ""},
      {"isa-l", fmt::format("{}.{}.{}", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION),
       file_of(isal_inflate), ""}};
}

}  // namespace headway
