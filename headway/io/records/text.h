#pragma once

#include <string>
#include <string_view>

#include "headway/io/bytes/block_reader.h"
#include "headway/io/records/record.h"

namespace headway {

struct TextOptions {
  Compression compression = Compression::kAuto;  // auto knows gzip; name zlib
  uint64_t max_line_bytes = uint64_t{1} << 28;   // beyond, a line is taken for damage
};

// Lines of a text file without their ends (LF or CR LF); the last may lack one. The file's end
// right behind a line end is no further line. A line above the limit throws SampleError and is
// passed over. Call from one thread.
class TextReader {
 public:
  explicit TextReader(const std::string& path, TextOptions options = {});

  // False at the end. The line is valid until the next call; its tensor() stays valid.
  bool next(Record& line);

  void seek(uint64_t offset) {  // to where a line starts
    in_long_line_ = false;
    in_.seek(offset);
  }
  uint64_t tell() {  // where the next line starts
    if (in_long_line_) skip_line();
    return in_.tell();
  }
  const std::string& path() const { return in_.path(); }

 private:
  [[noreturn]] void too_long(uint64_t offset);
  void skip_line();

  TextOptions options_;
  BlockReader in_;
  bool in_long_line_ = false;  // one that was refused, and is still to be passed over
};

}  // namespace headway
