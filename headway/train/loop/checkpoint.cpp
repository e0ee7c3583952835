#include "headway/train/loop/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "headway/core/clock.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr const char* kStateKey = "headway.training";

// The step in the name of a checkpoint; nothing for other files.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const char* first = name.data() + kPrefix.size();
  const char* last = name.data() + name.size() - kSuffix.size();
  int64_t step = 0;
  const auto [end, error] = std::from_chars(first, last, step);
  if (error != std::errc() || end != last) return std::nullopt;
  return step;
}

}  // namespace

SavedTraining FoundCheckpoint::saved() const {
  const auto text = content.metadata.find(kStateKey);
  if (text == content.metadata.end()) {
    throw Error(path + " holds only weights, so a training cannot be resumed from it",
                "give another checkpoint folder, or start without --resume (.checkpoint.resume)");
  }
  try {
    return parse_saved_training(text->second);
  } catch (const Error& e) {
    throw Error(
        fmt::format("{}: the saved state of the training cannot be read: {}", path, e.problem()),
        e.hint().empty() ? kDamagedState : e.hint());
  }
}

Error FoundCheckpoint::blamed(const Error& error, const std::string& hint) const {
  return Error(path + ": " + error.problem(), error.hint().empty() ? hint : error.hint());
}

CheckpointFolder::CheckpointFolder(const CheckpointOptions& options)
    : options_(options), last_ns_(now_ns()) {
  if (options.keep < 1)
    throw Error(fmt::format("checkpoint: keep is {}, but must be 1 or more", options.keep),
                "set .keep in fit's .checkpoint options to the number of checkpoints to keep");
  if (options.every_steps && *options.every_steps < 1)
    throw Error(
        fmt::format("checkpoint: every_steps is {}, but must be 1 or more", *options.every_steps),
        "set .every_steps in fit's .checkpoint options, or leave it out for one per epoch");
  if (options.every_s && !(*options.every_s > 0))
    throw Error(
        fmt::format("checkpoint: every_s is {:g}, but must be greater than 0", *options.every_s),
        "set .every_s (seconds) in fit's .checkpoint options, or leave it out for one per epoch");
  std::error_code failed;
  fs::create_directories(options.folder, failed);
  if (failed) {
    throw Error(fmt::format("checkpoint folder {}: {}", options.folder, failed.message()),
                "give a folder that this user may create and write to");
  }
  lock_.emplace(options.folder, "a training");
  for (const auto& entry : fs::directory_iterator(options.folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(".tmp")) fs::remove(entry.path(), failed);
  }
}

std::vector<std::pair<int64_t, std::string>> CheckpointFolder::list() const {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const auto& entry : fs::directory_iterator(options_.folder)) {
    if (const auto step = step_of(entry.path().filename().string())) {
      found.emplace_back(*step, entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool CheckpointFolder::due(int64_t step) const {
  const bool by_step = options_.every_steps && step % *options_.every_steps == 0;
  return by_step || (options_.every_s && double(now_ns() - last_ns_) > 1e9 * *options_.every_s);
}

std::optional<std::string> CheckpointFolder::write(const SavedTraining& saved,
                                                   Safetensors content) {
  content.metadata[kStateKey] = text_of(saved);
  const auto problem = write_and_prune(saved.step, content);
  resumed(saved.epoch, saved.step);
  last_ns_ = now_ns();
  return problem;
}

std::optional<std::string> CheckpointFolder::write_and_prune(int64_t step,
                                                             const Safetensors& content) const {
  const std::string path =
      (fs::path(options_.folder) / fmt::format("{}{:010}{}", kPrefix, step, kSuffix)).string();
  try {
    write_safetensors(path, content);
  } catch (const Error& e) {
    const auto left = list();
    return fmt::format(
        "checkpoint not written: {}; {}", e.problem(),
        left.empty() ? "there is no earlier one" : "the last good one is " + left.back().second);
  }
  auto all = list();
  std::error_code ignored;  // a file too many does no harm
  for (size_t i = 0; i + static_cast<size_t>(options_.keep) < all.size(); ++i) {
    fs::remove(all[i].second, ignored);
  }
  return std::nullopt;
}

std::optional<FoundCheckpoint> CheckpointFolder::newest(
    std::vector<std::string>& complaints) const {
  auto all = list();
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    try {
      return FoundCheckpoint{it->second, read_safetensors(it->second)};
    } catch (const Error& e) {
      complaints.push_back(fmt::format("skipped a damaged checkpoint: {}", e.problem()));
    }
  }
  return std::nullopt;
}

}  // namespace headway
