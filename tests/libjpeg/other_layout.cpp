// Linked into a program, makes its libjpeg one of another layout: readers of codes have a word more
// in front. To libjpeg itself they look as ever, to who calls it they lie 8 bytes before.
#include <dlfcn.h>

#include "headway/io/images/libjpeg.h"

namespace {

template <typename Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool within = false;  // a call of ours; an error may have left it

void move_reader(j_decompress_ptr info, int words) {
  info->entropy = reinterpret_cast<jpeg_entropy_decoder*>(reinterpret_cast<char*>(info->entropy) +
                                                          words * int(sizeof(void*)));
}

// A call that uses the reader. libjpeg's own calls of its functions come here too.
template <typename Call>
auto inside(j_decompress_ptr info, Call call) {
  if (within) return call();
  within = true;
  move_reader(info, +1);
  const auto result = call();
  move_reader(info, -1);
  within = false;
  return result;
}

}  // namespace

extern "C" {

boolean jpeg_start_decompress(j_decompress_ptr info) {
  const boolean started = real(jpeg_start_decompress, __func__)(info);
  move_reader(info, -1);
  within = false;
  return started;
}

JDIMENSION jpeg_read_scanlines(j_decompress_ptr info, JSAMPARRAY rows, JDIMENSION count) {
  return inside(
      info, [=] { return real(jpeg_read_scanlines, "jpeg_read_scanlines")(info, rows, count); });
}

JDIMENSION jpeg_skip_scanlines(j_decompress_ptr info, JDIMENSION count) {
  return inside(info,
                [=] { return real(jpeg_skip_scanlines, "jpeg_skip_scanlines")(info, count); });
}

}  // extern "C"
