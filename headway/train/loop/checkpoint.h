#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headway/core/error.h"
#include "headway/io/bytes/folder_lock.h"
#include "headway/io/records/safetensors.h"
#include "headway/train/loop/saved_training.h"
#include "headway/train/model/model.h"

// Inside train/: the files that a training run can go on from.
namespace headway {

// A checkpoint to go on from.
struct FoundCheckpoint {
  std::string path;
  Safetensors content;

  // What it says of the training. Error: nothing, or nothing that can be read.
  SavedTraining saved() const;
  // `error` with the file in front; `hint` where it has none of its own.
  Error blamed(const Error& error, const std::string& hint = "") const;
};

// A folder of checkpoint-<step>.safetensors. Weights lie in them under their own names; what else
// a run needs under "optimizer/", "rng/" ... and as text in the metadata.
class CheckpointFolder {
 public:
  // Makes the folder and keeps it to itself while it lives: Error names another run that writes
  // there. Removes what a killed run left half written.
  explicit CheckpointFolder(const CheckpointOptions& options);

  // Does this step of an epoch end with a checkpoint? The last one always does, without asking.
  bool due(int64_t step) const;
  bool has(int64_t step) const { return step == last_step_; }  // written by this run, or resumed
  void resumed(int64_t step) { last_step_ = step; }

  // Writes one and removes the oldest beyond `keep`. When the disk is full or refuses, the ones
  // that are there stay: returns the reason, or nothing when all is well.
  std::optional<std::string> write(const SavedTraining& saved, Safetensors content);

  // The newest whole one; damaged ones are passed over, each with a line in `complaints`.
  std::optional<FoundCheckpoint> newest(std::vector<std::string>& complaints) const;

 private:
  std::vector<std::pair<int64_t, std::string>> list() const;  // by step, oldest first
  std::optional<std::string> write_and_prune(int64_t step, const Safetensors& content) const;

  CheckpointOptions options_;
  std::optional<FolderLock> lock_;
  int64_t last_step_ = -1, last_ns_ = 0;
};

}  // namespace headway
