#include "cli/whole_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "headway/core/resource_error.h"
#include "headway/io/output_file.h"

namespace headway::cli {

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
    throw resource_error(path, "cannot put in place", errno);
}

}  // namespace headway::cli
