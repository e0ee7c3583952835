#include "headway/check/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "headway/check/judge/visible_gpus.h"
#include "headway/core/print.h"
#include "headway/core/wrap.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

std::string page_of(const CheckLine& line) { return "docs/causes/" + line.cause + ".md"; }

std::string shown_fit(Fit fit) {
  return fit == Fit::kNotSeen ? "not seen" : std::string(text_of(fit));
}

std::string full_text(const CheckLine& line) {
  std::string out = fmt::format("{}: {}\n", shown_fit(line.fit), visible(line.found));
  if (!line.why.empty()) out += labelled("why", line.why);
  if (!line.remedy.empty()) out += labelled("remedy", line.remedy);
  if (!line.cause.empty()) out += labelled("more", page_of(line));
  return out;
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }
Json or_null(int64_t value) { return value > 0 ? Json(value) : Json(nullptr); }
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const CheckLine& line) {
  return {{"id", line.id},
          {"topic", text_of(line.topic)},
          {"fit", text_of(line.fit)},
          {"found", line.found},
          {"why", line.why},
          {"remedy", line.remedy},
          {"page", line.cause.empty() ? Json(nullptr) : Json(page_of(line))}};
}

Json json_of(const GpuFacts& gpu) {
  Json gpus = Json::array();
  const std::vector<size_t> shown = visible_gpus(gpu).shown;
  for (size_t i = 0; i < gpu.gpus.size(); ++i) {
    const InstalledGpu& each = gpu.gpus[i];
    const std::string capability =
        each.capability ? fmt::format("{}.{}", each.capability / 10, each.capability % 10) : "";
    gpus.push_back({{"name", each.name},
                    {"capability", or_null(capability)},
                    {"memory_bytes", each.memory_bytes},
                    {"memory_used_bytes", each.memory_used},
                    {"visible", std::find(shown.begin(), shown.end(), i) != shown.end()}});
  }
  const std::string cuda =
      gpu.cuda ? fmt::format("{}.{}", gpu.cuda / 1000, gpu.cuda % 1000 / 10) : "";
  return {{"driver", or_null(gpu.driver)}, {"cuda", or_null(cuda)}, {"gpus", std::move(gpus)}};
}

const char* text_of_build(FrameworkBuild build) {
  switch (build) {
    case FrameworkBuild::kCpu: return "cpu";
    case FrameworkBuild::kCuda: return "cuda";
    case FrameworkBuild::kOther: return "other";
    case FrameworkBuild::kUnknown: break;
  }
  return "unknown";
}

Json json_of(const PythonFacts& python) {
  Json frameworks = Json::array();
  for (const InstalledFramework& each : python.frameworks)
    frameworks.push_back({{"name", each.name},
                          {"version", each.version},
                          {"build", text_of_build(each.build)},
                          {"cuda", or_null(each.cuda)},
                          {"cudnn", or_null(each.cudnn)}});
  return {{"program", or_null(python.program)},
          {"version", or_null(python.version)},
          {"frameworks", std::move(frameworks)}};
}

Json json_of(const DiskFacts& disk, const std::optional<DiskSpeed>& speed) {
  const DiskSpeed measured = speed.value_or(DiskSpeed{});
  return {{"path", disk.path},
          {"file_system", or_null(disk.file_system)},
          {"free_bytes", disk.free_bytes},
          {"large_read_bytes_per_s", or_null(measured.large_bytes_per_s)},
          {"small_reads_per_s", or_null(measured.small_reads_per_s)},
          {"small_read_bytes", or_null(measured.small_bytes)},
          {"past_cache", measured.past_cache}};
}

}  // namespace

CheckCounts count_of(const CheckLines& lines) {
  CheckCounts out;
  for (const CheckLine& each : lines) {
    out.good += each.fit == Fit::kGood, out.doubtful += each.fit == Fit::kDoubtful;
    out.wrong += each.fit == Fit::kWrong, out.not_seen += each.fit == Fit::kNotSeen;
  }
  return out;
}

std::string check_sentence(const CheckLines& lines) {
  const CheckCounts counts = count_of(lines);
  std::string out = counts.wrong > 0
                        ? fmt::format("this machine does not fit: {} wrong", counts.wrong)
                        : fmt::format("this machine fits: {} good", counts.good);
  if (counts.doubtful > 0) out += fmt::format(", {} doubtful", counts.doubtful);
  if (counts.not_seen > 0) out += fmt::format(", {} not seen", counts.not_seen);
  return out;
}

std::string check_text(const CheckLines& lines) {
  std::string out = check_sentence(lines) + "\n";
  for (const Fit fit : {Fit::kWrong, Fit::kDoubtful, Fit::kNotSeen})
    for (const CheckLine& each : lines)
      if (each.fit == fit) out += "\n" + full_text(each);
  std::string good;
  for (const CheckLine& each : lines)
    if (each.fit == Fit::kGood)
      good += labelled(std::string(text_of(each.topic)), visible(each.found));
  return good.empty() ? out : out + "\ngood:\n" + good;
}

Json check_json(const CheckLines& lines, const MachineFacts& facts) {
  const CheckCounts counts = count_of(lines);
  Json list = Json::array();
  for (const CheckLine& each : lines) list.push_back(json_of(each));
  const CoreFacts& cores = facts.cores;
  const MemoryFacts& memory = facts.memory;
  return {
      {"fits", counts.wrong == 0},
      {"sentence", check_sentence(lines)},
      {"good", counts.good},
      {"doubtful", counts.doubtful},
      {"wrong", counts.wrong},
      {"not_seen", counts.not_seen},
      {"lines", std::move(list)},
      {"gpu", json_of(facts.gpu)},
      {"python", json_of(facts.python)},
      {"cores", {{"online", cores.online}, {"allowed", cores.allowed}, {"usable", cores.usable}}},
      {"memory",
       {{"total_bytes", memory.total_bytes},
        {"available_bytes", memory.available_bytes},
        {"limit_bytes", or_null(memory.limit_bytes)},
        {"swap_bytes", memory.swap_bytes},
        {"shm_bytes", or_null(memory.shm_bytes)},
        {"shm_free_bytes", or_null(memory.shm_free_bytes)},
        {"open_files", or_null(memory.open_files)}}},
      {"disk", json_of(facts.disk, facts.speed)}};
}

}  // namespace headway
