// Any bytes as headway-convert.json: the folder is gone on with, or refused and left as it is.
#include <cstdint>

#include "cli/manifest.h"
#include "headway/core/error.h"
#include "headway/io/bytes/temp_folder.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TempFolder folder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  folder.write("out/headway-convert.json", text);
  const nlohmann::json settings = {{"source", "photos"}, {"shards", 4}, {"resize", {32, 32}}};
  try {
    const cli::Manifest manifest(folder.path("out"), settings);
    require(manifest.continues() && cli::settings_in(text) == settings);
  } catch (const Error& e) {
    require(!e.problem().empty() && !e.hint().empty());
  }
  require(folder.read("out/headway-convert.json") == text);
  return 0;
}
