#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/input.h"
#include "cli/transcode.h"
#include "headway/io/bytes/byte_source.h"

namespace headway::cli {

struct Conversion {
  std::string from, to;
  Transcoding images;
  std::string resize_text;  // as given, for the manifest
  int64_t shards = 0;       // 0: about kShardBytes each
  std::optional<uint64_t> shuffle;
  Compression compression = Compression::kNone;
  Options run;
};

struct Converted {
  int64_t images = 0;   // written now
  int64_t kept = 0;     // found there, from an earlier run
  int64_t skipped = 0;  // bad ones
  int64_t bytes = 0;    // of all that is there now
  int64_t shards = 0;
  double seconds = 0;
  double images_per_s = 0;
};

// Both write whole files only, and go on where an earlier run with the same settings was ended.
Converted convert_to_records(const Conversion& how);
Converted convert_to_folder(const Conversion& how, const Input& input);

// Those settings that decide what is written: same settings, same bytes.
nlohmann::json settings_of(const Conversion& how);

}  // namespace headway::cli
