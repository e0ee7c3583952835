#include "headway/train/loop/saved_training.h"

#include <fmt/format.h>

#include <bit>

#include "headway/core/json.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr int64_t kVersion = 1;
constexpr int64_t kLargestCount = int64_t{1} << 53;  // small enough that sums do not overflow
constexpr int kMostThreads = 4096;
constexpr size_t kMostLogs = 1000;  // per epoch

int64_t bits(double value) { return std::bit_cast<int64_t>(value); }
double from_bits(int64_t value) { return std::bit_cast<double>(value); }

json json_of(std::pair<double, double> sums) { return {bits(sums.first), bits(sums.second)}; }

json json_of(const Logs& logs) {
  json out = json::array();
  for (const auto& [name, value] : logs) out.push_back({name, bits(value)});
  return out;
}

std::pair<double, double> sums_in(const JsonView& in) {
  const auto [total, count] = in.as<std::pair<int64_t, int64_t>>();
  return {from_bits(total), from_bits(count)};
}

Logs logs_in(const JsonView& in) {
  if (in.size() > kMostLogs)
    throw Error(fmt::format("the checkpoint lists {} measured values for one epoch, but at most {} "
                            "are possible",
                            in.size(), kMostLogs),
                kDamagedState);
  Logs logs;
  for (const auto& [name, value] : in.as<std::vector<std::pair<std::string, int64_t>>>()) {
    logs.set(name, from_bits(value));
  }
  return logs;
}

int64_t count_in(const JsonView& state, const char* key) {
  const auto count = state[key].as<int64_t>();
  if (count >= 0 && count <= kLargestCount) return count;
  throw Error(
      fmt::format("the checkpoint's field '{}' is {}, but must be between 0 and 2^53", key, count),
      kDamagedState);
}

std::vector<int> threads_in(const JsonView& in) {
  const auto threads = in.as<std::vector<int>>();
  if (threads.size() != 3)
    throw Error("the checkpoint's field 'threads' must be a list of three numbers", kDamagedState);
  for (const int n : threads) {
    if (n < 0 || n > kMostThreads)
      throw Error(fmt::format("the checkpoint's field 'threads' has the number {}, but each must "
                              "be between 0 and {}",
                              n, kMostThreads),
                  kDamagedState);
  }
  return threads;
}

void check_version(const JsonView& state) {
  if (const auto version = state["version"].as<int64_t>(); version != kVersion) {
    throw Error(fmt::format("the checkpoint has version {}, but this headway reads version {}",
                            version, kVersion),
                "resume with the Headway release that wrote it, or give another checkpoint folder");
  }
}

}  // namespace

std::string text_of(const SavedTraining& s) {
  json metrics = json::array(), history = json::array();
  for (const auto& sums : s.metrics) metrics.push_back(json_of(sums));
  for (const Logs& logs : s.history) history.push_back(json_of(logs));
  const json state = {{"version", kVersion},
                      {"description", s.description},
                      {"epoch", s.epoch},
                      {"step", s.step},
                      {"step_in_epoch", s.step_in_epoch},
                      {"accumulated", s.accumulated},
                      {"iterations", s.iterations},
                      {"learning_rate_scale", bits(s.learning_rate_scale)},
                      {"loss", json_of(s.loss)},
                      {"metrics", metrics},
                      {"stopped_by", s.stopped_by},
                      {"callbacks", s.callbacks},
                      {"history", history},
                      {"threads", s.threads},
                      {"pipeline", s.pipeline ? json(*s.pipeline) : json()}};
  return state.dump(-1, ' ', false, json::error_handler_t::replace);
}

SavedTraining parse_saved_training(std::string_view text) {
  const json parsed = parse_json(text);
  const JsonView state(parsed, "the state");
  check_version(state);
  SavedTraining s;
  s.description = state["description"].as<std::string>();
  s.epoch = count_in(state, "epoch");
  s.step = count_in(state, "step");
  s.step_in_epoch = count_in(state, "step_in_epoch");
  s.accumulated = count_in(state, "accumulated");
  s.iterations = count_in(state, "iterations");
  s.learning_rate_scale = from_bits(state["learning_rate_scale"].as<int64_t>());
  s.loss = sums_in(state["loss"]);
  const JsonView metrics = state["metrics"], history = state["history"];
  for (size_t i = 0; i < metrics.size(); ++i) s.metrics.push_back(sums_in(metrics.at(i)));
  for (size_t i = 0; i < history.size(); ++i) s.history.push_back(logs_in(history.at(i)));
  s.stopped_by = state["stopped_by"].as<std::string>();
  s.callbacks = state["callbacks"].as<std::map<std::string, std::string>>();
  s.threads = threads_in(state["threads"]);
  if (!state["pipeline"].is_null()) s.pipeline = state["pipeline"].as<std::string>();
  return s;
}

}  // namespace headway
