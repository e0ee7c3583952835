#include "cli/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "headway/core/error.h"
#include "headway/io/file.h"
#include "headway/io/output_file.h"

namespace headway::cli {

std::string read_whole(const std::string& path, size_t max_bytes) {
  const File file(path);
  std::string bytes(std::min<uint64_t>(file.size_bytes(), max_bytes + 1), '\0');
  bytes.resize(file.pread(0, bytes.data(), bytes.size()));
  if (bytes.size() <= max_bytes) return bytes;
  throw Error(fmt::format("{}: larger than {} bytes", path, max_bytes),
              "is this the file you mean?");
}

void write_whole(const std::string& path, std::string_view bytes) {
  const std::filesystem::path place(path);
  const std::string partial =
      (place.parent_path() / ("." + place.filename().string() + ".partial")).string();
  try {
    OutputFile file(partial);
    file.write(bytes);
    file.close();
  } catch (...) {
    std::remove(partial.c_str());
    throw;
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0)
    throw_io_error(path, "cannot put in place", errno);
}

}  // namespace headway::cli
