#include <fmt/format.h>

#include <csetjmp>
#include <cstdlib>

#include "headway/io/images/jpeg.h"
#include "headway/io/images/libjpeg.h"

namespace headway {
namespace {

struct Encoder {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump;
  unsigned char* out = nullptr;
  unsigned long out_bytes = 0;

  ~Encoder() {
    jpeg_destroy_compress(&info);
    std::free(out);
  }
};

}  // namespace

std::vector<uint8_t> encode_jpeg(const uint8_t* pixels, int height, int width, int channels,
                                 int64_t stride_bytes, const JpegEncoding& encoding) {
  if (channels != 1 && channels != 3) {
    throw Error(
        fmt::format("encode_jpeg: invalid number of channels {}; a JPEG has 1 or 3", channels),
        "convert the image to 1 channel (grey) or 3 (red, green, blue), or write a PNG");
  }
  Encoder encoder;
  auto& info = encoder.info;
  info.err = jpeg_std_error(&encoder.errors);
  info.client_data = &encoder;
  encoder.errors.error_exit = [](j_common_ptr common) {
    std::longjmp(static_cast<Encoder*>(common->client_data)->jump, 1);
  };
  if (setjmp(encoder.jump)) {
    char text[JMSG_LENGTH_MAX] = {};
    encoder.errors.format_message(reinterpret_cast<j_common_ptr>(&encoder.info), text);
    throw Error(std::string("encode_jpeg: ") + text);
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &encoder.out, &encoder.out_bytes);
  info.image_width = width;
  info.image_height = height;
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, encoding.quality, TRUE);
  if (channels == 3) {
    info.comp_info[0].h_samp_factor = encoding.horizontal;
    info.comp_info[0].v_samp_factor = encoding.vertical;
  }
  info.restart_interval = static_cast<unsigned>(encoding.restart_interval);
  if (encoding.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < height; ++y) {
    JSAMPROW row = const_cast<uint8_t*>(pixels) + y * stride_bytes;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return {encoder.out, encoder.out + encoder.out_bytes};
}

}  // namespace headway
