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

// A checkpoint that a run may go on from.
struct FoundCheckpoint {
  std::string path;
  Safetensors content;

  // What it holds besides tensors. Error when that is missing or cannot be read.
  SavedTraining saved() const;
  // `error` with the path in front, and `hint` where it has none.
  Error blamed(const Error& error, const std::string& hint = "") const;
};

// A folder of checkpoint-<step>.safetensors. They hold the weights under their own names, what else
// a run needs under "optimizer/", "rng/" ... and as text in the metadata.
class CheckpointFolder {
 public:
  // Makes the folder and locks it until destroyed: Error names another run that writes there.
  // Removes files that a killed run left incomplete.
  explicit CheckpointFolder(const CheckpointOptions& options);

  // Must a checkpoint follow this step? At the end of an epoch one is written in any case.
  bool due(int64_t step) const;
  // Is the newest one, written or resumed from, of this step? At the end of an epoch the same step
  // is saved once more: as the beginning of the next epoch.
  bool has(int64_t epoch, int64_t step) const { return epoch == last_epoch_ && step == last_step_; }
  void resumed(int64_t epoch, int64_t step) { last_epoch_ = epoch, last_step_ = step; }

  // Writes one and removes the oldest beyond `keep`. When writing fails, the older ones stay and
  // the reason is returned; else nothing.
  std::optional<std::string> write(const SavedTraining& saved, Safetensors content);

  // The newest undamaged one; damaged ones are skipped, each with a line in `complaints`.
  std::optional<FoundCheckpoint> newest(std::vector<std::string>& complaints) const;

 private:
  std::vector<std::pair<int64_t, std::string>> list() const;  // by step, oldest first
  std::optional<std::string> write_and_prune(int64_t step, const Safetensors& content) const;

  CheckpointOptions options_;
  std::optional<FolderLock> lock_;
  int64_t last_epoch_ = -1, last_step_ = -1, last_ns_ = 0;
};

}  // namespace headway
