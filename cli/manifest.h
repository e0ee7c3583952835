#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "headway/io/bytes/folder_lock.h"

namespace headway::cli {

// What a headway-convert.json says the folder is made with. Throws Error for what is none, or of a
// later version.
nlohmann::json settings_in(std::string_view text);

// Holds a folder that `headway convert` writes to: notes in headway-convert.json how it is being
// made, refuses to mix it with anything made otherwise, and keeps a second convert out meanwhile.
// What was noted survives whatever ends the program, so that a rerun can go on.
class Manifest {
 public:
  // Makes the folder if need be. Throws Error when it holds something else, was made with other
  // settings (and names both), or another process is writing to it.
  Manifest(std::string folder, nlohmann::json settings);

  bool continues() const { return continues_; }  // an earlier run with the same settings was here
  // Notes that all is there, with what is worth knowing about it.
  void finish(const nlohmann::json& summary);

 private:
  void check_earlier();
  void write(const nlohmann::json& content) const;

  const std::string folder_;
  const nlohmann::json settings_;
  const FolderLock lock_;
  bool continues_ = false;
};

}  // namespace headway::cli
