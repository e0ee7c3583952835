#include "headway/probe/process/thread_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "headway/probe/process/proc_files.h"

namespace headway {
namespace {

constexpr size_t kLargestEnvironment = 256 << 10;
constexpr int64_t kMostThreads = 4096;

constexpr std::string_view kVariables[] = {
    "OMP_NUM_THREADS",     "MKL_NUM_THREADS",        "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS",
};
constexpr std::string_view kXlaThreads = "intra_op_parallelism_threads=";
constexpr std::string_view kXlaEigen = "xla_cpu_multi_thread_eigen=";

constexpr std::string_view kCalls[] = {
    "torch.set_num_threads",
    "set_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "threadpool_limits",
};

// "4", "4,2", "'4'": a number of threads, or nothing.
std::optional<int64_t> count_in(std::string_view text) {
  while (!text.empty() && std::string_view(" \"'(").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value <= 0 || value > kMostThreads) return std::nullopt;
  std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  rest.remove_prefix(std::min(rest.find_first_not_of(" "), rest.size()));
  const bool alone = rest.empty() || std::string_view(",)'\";#-").find(rest[0]) != rest.npos;
  return alone ? std::optional(value) : std::nullopt;
}

void add_xla(std::string_view flags, std::vector<SeenThreadSetting>& out) {
  if (const size_t at = flags.find(kXlaThreads); at != std::string_view::npos)
    if (const auto threads = count_in(flags.substr(at + kXlaThreads.size())))
      out.push_back({fmt::format("XLA_FLAGS={}{}", kXlaThreads, *threads), {}, *threads});
  if (const size_t at = flags.find(kXlaEigen);
      at != std::string_view::npos && flags.substr(at + kXlaEigen.size()).starts_with("false"))
    out.push_back({fmt::format("XLA_FLAGS=--{}false", kXlaEigen), {}, 1});
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The position of `name` as a whole word, not as a part of another one.
size_t find_word(std::string_view line, std::string_view name) {
  for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end])))
      return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<SeenThreadSetting> settings_in_environment(std::string_view environment) {
  std::vector<SeenThreadSetting> out;
  while (!environment.empty()) {
    const size_t end = std::min(environment.find('\0'), environment.size());
    const std::string_view entry = environment.substr(0, end);
    environment.remove_prefix(std::min(end + 1, environment.size()));
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals), value = entry.substr(equals + 1);
    if (name == "XLA_FLAGS") add_xla(value, out);
    if (std::find(std::begin(kVariables), std::end(kVariables), name) == std::end(kVariables))
      continue;
    if (const auto threads = count_in(value))
      out.push_back({fmt::format("{}={}", name, *threads), {}, *threads});
  }
  return out;
}

std::vector<SeenThreadSetting> environment_settings_of(pid_t pid) {
  return settings_in_environment(
      file_text(fmt::format("/proc/{}/environ", pid), kLargestEnvironment));
}

SettingCall setting_in_line(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line[begin] == '#') return {};
  for (const std::string_view call : kCalls) {
    const size_t at = find_word(line, call);
    if (at == std::string_view::npos || line.substr(at + call.size(), 1) != "(") continue;
    std::string_view argument = line.substr(at + call.size() + 1);
    if (const size_t equals = argument.find('=');
        argument.starts_with("limits") || argument.starts_with("num_threads"))
      argument.remove_prefix(equals == std::string_view::npos ? argument.size() : equals + 1);
    if (const auto threads = count_in(argument))
      return {fmt::format("{}({})", call, *threads), *threads};
  }
  // os.environ["OMP_NUM_THREADS"] = "1", os.environ.setdefault("OMP_NUM_THREADS", "1")
  const size_t environment = line.find("environ");
  if (environment == std::string_view::npos) return {};
  for (const std::string_view name : kVariables) {
    const size_t at = find_word(line, name);
    if (at == std::string_view::npos || at < environment) continue;
    std::string_view rest = line.substr(at + name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of("\"'] ,=:"), rest.size()));
    if (const auto threads = count_in(rest))
      return {fmt::format("{}={}", name, *threads), *threads};
  }
  return {};
}

}  // namespace headway
