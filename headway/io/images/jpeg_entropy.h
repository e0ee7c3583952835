#pragma once

#include <memory>

struct jpeg_decompress_struct;

namespace headway {

// Reads the Huffman codes of a JPEG in the place of libjpeg-turbo's own reader, which is where most
// of decoding goes: codes and the bits behind them by one lookup, no look for stuffed bytes in the
// inner loop, nothing stored that nobody asked for. The rest (inverse DCT, upsampling, colours)
// stays libjpeg's, so pixels are the same bit by bit.
//
//   jpeg_start_decompress(&info);
//   entropy.take_over(info);        // before the first row
class JpegEntropy {
 public:
  JpegEntropy();
  ~JpegEntropy();
  JpegEntropy(const JpegEntropy&) = delete;

  // False, and nothing is changed, for files of a rarer kind (progressive, arithmetic, lossless,
  // several scans), and for all where libjpeg's layout is not one we know (jpeg_layout.h). All
  // bytes must be in info's source. Damage is told by libjpeg's warnings, and what follows it is
  // not worth looking at.
  bool take_over(jpeg_decompress_struct& info);
  // After jpeg_crop_scanline: the columns it has chosen. Others are read over.
  void narrow(const jpeg_decompress_struct& info, unsigned x, unsigned width);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace headway
