#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headway/io/bytes/folder_lock.h"
#include "headway/io/records/safetensors.h"
#include "headway/train/model/model.h"

// Inside train/: the files that a training run can go on from.
namespace headway {

// A folder of checkpoint-<step>.safetensors. Weights lie in them under their own names; what else
// a run needs under "optimizer/", "rng/" ... and as text in the metadata.
class CheckpointFolder {
 public:
  // Makes the folder and keeps it to itself while it lives: Error names another run that writes
  // there. Removes what a killed run left half written.
  explicit CheckpointFolder(const CheckpointOptions& options);

  // Writes one and removes the oldest beyond `keep`. When the disk is full or refuses, the ones
  // that are there stay: returns the reason, or nothing when all is well.
  std::optional<std::string> write(int64_t step, const Safetensors& content);

  struct Found {
    std::string path;
    Safetensors content;
  };
  // The newest whole one; damaged ones are passed over, each with a line in `complaints`.
  std::optional<Found> newest(std::vector<std::string>& complaints) const;

 private:
  std::vector<std::pair<int64_t, std::string>> list() const;  // by step, oldest first

  CheckpointOptions options_;
  std::optional<FolderLock> lock_;
};

}  // namespace headway
