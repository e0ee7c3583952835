#include "cli/manifest.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "headway/core/error.h"
#include "headway/core/json.h"
#include "headway/core/regular_file.h"
#include "headway/io/bytes/output_file.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "headway-convert.json";
constexpr int64_t kVersion = 1;
constexpr size_t kMaxBytes = 1 << 20;

// Paths may hold bytes that are no text.
std::string text_of(const nlohmann::json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

// "shards 8 here, 4 wanted": only what differs.
std::string differences(const nlohmann::json& there, const nlohmann::json& wanted) {
  std::string text;
  for (const auto& [key, value] : wanted.items()) {
    const auto old = there.value(key, nlohmann::json());
    if (old != value)
      text += fmt::format("\n  {}: {} there, {} wanted", key, text_of(old), text_of(value));
  }
  return text;
}

std::string made(std::string folder) {
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw Error(folder + " is a file", "name a folder to write to");
  }
  fs::create_directories(folder);
  return folder;
}

bool holds_anything(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != FolderLock::kFile) return true;
  }
  return false;
}

nlohmann::json read_settings(const std::string& path) {
  const std::string text = read_regular(path, kMaxBytes);
  try {
    return settings_in(text);
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", path, e.problem()),
                e.hint().empty() ? "this file is damaged: give another folder for DST" : e.hint());
  }
}

// What a killed run was writing: unfinished shards and sidecars, this file half written.
void remove_unfinished(const std::string& folder) {
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool shard = name.starts_with("data-") && name.find(".tfrecord") != std::string::npos &&
                       (name.find(".partial") != std::string::npos || name.ends_with(".tmp"));
    const bool manifest = name.starts_with(kName) && name.ends_with(".tmp");
    if (shard || manifest) unfinished.push_back(entry.path());
  }
  for (const fs::path& path : unfinished) fs::remove(path);
}

}  // namespace

nlohmann::json settings_in(std::string_view text) {
  const nlohmann::json json = parse_json(text);
  const JsonView manifest(json, "the manifest");
  if (const auto version = manifest.get("version", kVersion); version != kVersion) {
    throw Error(
        fmt::format("another release of Headway began to write this folder (in format {}, and this "
                    "release reads format {})",
                    version, kVersion),
        "continue with that release, or give another folder for DST");
  }
  return manifest["settings"].object();
}

// The settings as they come back from the file, so that both compare.
Manifest::Manifest(std::string folder, nlohmann::json settings)
    : folder_(made(std::move(folder))),
      settings_(parse_json(text_of(settings))),
      lock_(folder_, "headway convert") {
  remove_unfinished(folder_);
  check_earlier();
  if (!continues_) write({{"version", kVersion}, {"settings", settings_}, {"finished", false}});
}

void Manifest::check_earlier() {
  const std::string path = folder_ + "/" + kName;
  if (!fs::exists(path)) {
    if (!holds_anything(folder_)) return;
    throw Error(folder_ + " is not empty, and what it holds was not made by headway convert",
                "give another folder for DST");
  }
  const nlohmann::json made = read_settings(path);
  if (made != settings_) {
    throw Error(
        fmt::format("{} was made with other settings{}", folder_, differences(made, settings_)),
        "use the same settings to continue, or give another folder for DST");
  }
  continues_ = true;
}

void Manifest::finish(const nlohmann::json& summary) {
  nlohmann::json content = {{"version", kVersion}, {"settings", settings_}, {"finished", true}};
  content.update(summary);
  write(content);
}

void Manifest::write(const nlohmann::json& content) const {
  AtomicFile file(folder_ + "/" + kName);
  file.write(text_of(content, 2) + "\n");
  file.commit();
}

}  // namespace headway::cli
