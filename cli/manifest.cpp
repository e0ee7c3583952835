#include "cli/manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "headway/core/error.h"
#include "headway/core/resource_error.h"
#include "headway/io/output_file.h"

namespace headway::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "headway-convert.json";
constexpr const char* kLock = ".headway-convert.lock";

// "shards 8 here, 4 wanted": only what differs.
std::string differences(const nlohmann::json& there, const nlohmann::json& wanted) {
  std::string text;
  for (const auto& [key, value] : wanted.items()) {
    const auto old = there.is_object() && there.contains(key) ? there[key] : nlohmann::json();
    if (old != value)
      text += fmt::format("\n  {}: {} there, {} wanted", key, old.dump(), value.dump());
  }
  return text;
}

bool holds_anything(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != kLock) return true;
  }
  return false;
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

Manifest::Manifest(std::string folder, nlohmann::json settings)
    : folder_(std::move(folder)), settings_(std::move(settings)) {
  if (fs::exists(folder_) && !fs::is_directory(folder_)) {
    throw Error(folder_ + " is a file", "name a folder to write to");
  }
  fs::create_directories(folder_);
  lock();
  remove_unfinished(folder_);
  check_earlier();
  if (!continues_) write({{"settings", settings_}, {"finished", false}});
}

Manifest::~Manifest() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

void Manifest::lock() {
  const std::string path = folder_ + "/" + kLock;
  lock_fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_fd_ < 0) throw resource_error(path, "cannot write", errno);
  if (::flock(lock_fd_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(lock_fd_);
  throw Error("another headway convert is writing to " + folder_,
              "wait for it, or name another folder");
}

void Manifest::check_earlier() {
  const std::string path = folder_ + "/" + kName;
  if (!fs::exists(path)) {
    if (!holds_anything(folder_)) return;
    throw Error(folder_ + " is not empty, and what it holds was not made by headway convert",
                "name another folder");
  }
  const auto there = nlohmann::json::parse(std::ifstream(path), nullptr, false);
  const auto made =
      there.is_object() ? there.value("settings", nlohmann::json()) : nlohmann::json();
  if (made != settings_) {
    throw Error(
        fmt::format("{} was made with other settings{}", folder_, differences(made, settings_)),
        "use the same settings to go on, or name another folder");
  }
  continues_ = true;
}

void Manifest::finish(const nlohmann::json& summary) {
  nlohmann::json content = {{"settings", settings_}, {"finished", true}};
  content.update(summary);
  write(content);
  ::unlink((folder_ + "/" + kLock).c_str());
}

void Manifest::write(const nlohmann::json& content) const {
  AtomicFile file(folder_ + "/" + kName);
  file.write(content.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace headway::cli
