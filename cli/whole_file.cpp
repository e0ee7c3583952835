#include "cli/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "headway/core/resource_error.h"
#include "headway/io/bytes/output_file.h"

namespace headway::cli {
namespace {

// The same name each time, so that what a killed run left is written over. Never longer than a name
// may be: the end of a long one is told by its hash.
std::string partial_beside(const std::string& path) {
  constexpr size_t kMostKept = 200;
  const std::filesystem::path place(path);
  std::string name = place.filename().string();
  if (name.size() > kMostKept) {
    name = fmt::format("{}-{:016x}", name.substr(0, kMostKept), std::hash<std::string>{}(name));
  }
  return (place.parent_path() / ("." + name + ".partial")).string();
}

}  // namespace

void write_whole(const std::string& path, std::string_view bytes) {
  const std::string partial = partial_beside(path);
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
