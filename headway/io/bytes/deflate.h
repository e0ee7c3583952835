#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "headway/io/bytes/byte_source.h"

struct isal_zstream;

namespace headway {

// Compresses a stream as gzip or zlib, by ISA-L. Output is appended to the caller's string.
// Call from one thread.
class Deflater {
 public:
  explicit Deflater(Compression compression);  // REQUIRES: kGzip or kZlib
  ~Deflater();

  void write(std::string_view bytes, std::string& out);
  void flush(std::string& out);   // so that everything written can be read; costs a little size
  void finish(std::string& out);  // the stream's end and checksum; nothing may follow

 private:
  void run(std::string_view bytes, int flush, bool last, std::string& out);

  std::unique_ptr<isal_zstream> stream_;
  std::unique_ptr<uint8_t[]> workspace_;
};

}  // namespace headway
