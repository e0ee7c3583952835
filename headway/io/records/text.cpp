#include "headway/io/records/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {

TextReader::TextReader(const std::string& path, TextOptions options)
    : options_(options), in_(open_source(path, options.compression)) {}

bool TextReader::next(Record& line) {
  if (in_long_line_) skip_line();
  const uint64_t offset = in_.tell();
  uint64_t searched = 0;
  while (in_.need(searched + 1)) {
    const size_t end = in_.held().find('\n', searched);
    if (end != std::string_view::npos) {
      const std::string_view bytes = in_.held().substr(0, end);
      in_.consume(end + 1);
      line = {bytes.ends_with('\r') ? bytes.substr(0, end - 1) : bytes,
              static_cast<int64_t>(offset), in_.block()};
      return true;
    }
    searched = in_.held().size();
    if (searched > options_.max_line_bytes) too_long(offset);
    in_.need(std::min(2 * searched, options_.max_line_bytes + 1));  // a long line is moved rarely
  }
  line = {in_.held(), static_cast<int64_t>(offset), in_.block()};
  in_.consume_all();
  return !line.bytes.empty();
}

void TextReader::skip_line() {
  in_long_line_ = false;
  while (in_.need(1)) {
    const size_t end = in_.held().find('\n');
    if (end != std::string_view::npos) {
      in_.consume(end + 1);
      return;
    }
    in_.consume_all();
  }
}

// Said at once, not behind a line that may be the rest of a disk.
void TextReader::too_long(uint64_t offset) {
  in_long_line_ = true;
  throw SampleError({in_.path(), static_cast<int64_t>(offset)},
                    fmt::format("a line has more than {} bytes", options_.max_line_bytes),
                    "check that this is a text file with ends of lines; else raise max_line_bytes "
                    "in TextOptions");
}

}  // namespace headway
