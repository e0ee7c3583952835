#include "headway/data/skip_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "headway/core/json.h"

namespace headway {
namespace {

constexpr int64_t kRateNeeds = 100;  // samples seen before a rate means anything

SampleError as_sample_error(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const SampleError& e) {
    return e;
  } catch (const std::exception& e) {
    return SampleError({}, e.what());
  } catch (...) {
    return SampleError({}, message_of(error));
  }
}

// Nothing where the line was cut off by a kill while it was written.
std::optional<SkipEntry> entry_in(const std::string& line) {
  nlohmann::json json;
  try {
    json = parse_json(line);
  } catch (const JsonError& e) {
    if (e.over_limit()) throw;
    return std::nullopt;
  }
  const JsonView entry(json, "the line");
  return SkipEntry{entry.get<std::string>("file", ""), entry.get<int64_t>("offset", -1),
                   entry.get<std::string>("reason", "")};
}

}  // namespace

SkipLog::SkipLog(ErrorPolicy policy) : policy_(std::move(policy)) {
  if (!policy_.skip || policy_.log.empty()) return;
  file_ = std::fopen(policy_.log.c_str(), "ae");
  if (!file_) {
    throw Error(fmt::format("cannot open the skip log {}: {}", policy_.log, std::strerror(errno)),
                "give a file in a folder that exists and that this user may write to");
  }
}

SkipLog::~SkipLog() {
  if (file_) std::fclose(file_);
}

int& SkipLog::replaying() {
  thread_local int depth = 0;
  return depth;
}

void SkipLog::note(std::exception_ptr error) {
  if (replaying() > 0) return;
  const SampleError bad = as_sample_error(error);
  MutexLock lock(mu_);
  ++skipped_, ++seen_;
  if (file_) {
    const nlohmann::json line = {
        {"file", bad.origin().file}, {"offset", bad.origin().offset}, {"reason", bad.reason()}};
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0) {
      throw Error(
          fmt::format("cannot write the skip log {}: {}", policy_.log, std::strerror(errno)),
          "if the disk is full, free some space, or write the skip log to another disk");
    }
  }
  const bool over_rate = seen_ >= kRateNeeds && double(skipped_) > policy_.max_rate * double(seen_);
  if (skipped_ <= policy_.max_count && !over_rate) return;
  throw Error(
      fmt::format("{} of {} samples were bad, but only {} may be skipped; the last one: {}",
                  skipped_, seen_,
                  over_rate ? fmt::format("{:.3g}%", 100 * policy_.max_rate)
                            : std::to_string(policy_.max_count),
                  bad.problem()),
      policy_.log.empty()
          ? "repair the data, allow more to be skipped (ErrorPolicy, --skip-errors), or give a "
            "file that will list every bad sample (ErrorPolicy.log, --skip-log)"
          : "see " + policy_.log +
                " for every bad sample; repair them, or allow more to be skipped (ErrorPolicy, "
                "--skip-errors)");
}

void SkipLog::count_good(int64_t samples) {
  if (replaying() > 0) return;
  MutexLock lock(mu_);
  seen_ += samples;
}

int64_t SkipLog::skipped() const {
  MutexLock lock(mu_);
  return skipped_;
}

int64_t SkipLog::seen() const {
  MutexLock lock(mu_);
  return seen_;
}

void SkipLog::restore(int64_t skipped, int64_t seen) {
  MutexLock lock(mu_);
  skipped_ = skipped, seen_ = seen;
}

std::vector<SkipEntry> SkipLog::read(const std::string& path) {
  std::ifstream in(path);
  if (!in)
    throw Error(fmt::format("cannot open the skip log {}: {}", path, std::strerror(errno)),
                "check that the file exists and that this user may read it");
  std::vector<SkipEntry> entries;
  int64_t number = 0;
  try {
    for (std::string line; ++number, read_line(in, line);) {
      if (auto entry = entry_in(line)) entries.push_back(*std::move(entry));
    }
  } catch (const Error& e) {
    throw Error(fmt::format("{}:{}: {}", path, number, e.problem()),
                "is this a skip log? It has one JSON object a line");
  }
  return entries;
}

}  // namespace headway
