#include <fmt/format.h>

#include "headway/data/sources/file_stream.h"
#include "headway/data/sources/sources.h"
#include "headway/io/records/text.h"

namespace headway {

NodePtr make_text_lines(std::vector<std::string> files, Compression compression) {
  const auto open = [compression](const std::string& path) {
    return std::make_unique<TextReader>(path, TextOptions{.compression = compression});
  };
  return make_file_stream<TextReader>("text_lines", std::move(files), open, 1);
}

}  // namespace headway
