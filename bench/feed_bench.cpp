// How fast a dataset is fed, beside the bare limit (and, with --peers, the peers) in one run.
//
//   feed_bench --task t1 --mode exact --images photos --threads 2 --peers
//   feed_bench --task scalars --threads 1
//
// Rounds of Headway and of the limit alternate, so that a noisy machine troubles both; ratios are
// medians over rounds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/limit.h"
#include "headway/core/clock.h"
#include "headway/core/median.h"
#include "headway/headway.h"
#include "headway/io/bytes/glob.h"

namespace headway::bench {
namespace {

constexpr int kWarmBatches = 6;

struct Settings {
  std::string task = "t1";
  std::string mode = "exact";
  std::string images;
  int threads = 2;
  double seconds = 2;
  int rounds = 7;
  bool peers = false;
  bool json = false;
  bool explain = false;
};

struct Round {
  double images_per_s = 0, cpu_ms_per_image = 0, first_batch_ms = 0;
};

std::vector<std::string> images_in(const std::string& folder) {
  const PathList list = list_files(folder + "/**/*.{jpg,jpeg,JPG,JPEG,png,PNG}");
  std::vector<std::string> paths;
  for (size_t i = 0; i < list.size(); ++i) paths.push_back(list.path(i));
  return paths;
}

Task task_of(const std::string& name) {
  return name == "t1" ? Task::kT1 : name == "t2" ? Task::kT2 : Task::kT3;
}

Dataset dataset_for(const Settings& s, const std::vector<std::string>& paths) {
  const DecodeMode mode = s.mode == "fast" ? DecodeMode::kFast : DecodeMode::kExact;
  const Dataset images = files(paths).repeat().decode_image({.mode = mode});
  const Options options{.threads = s.threads};
  switch (task_of(s.task)) {
    case Task::kT1:
      return images.resize_shorter({.size = 256})
          .center_crop({.height = 224, .width = 224})
          .normalize(kImageNet)
          .layout(Layout::kCHW)
          .batch(64)
          .with_options(options);
    case Task::kT2:
      return images.random_resized_crop({.height = 224, .width = 224})
          .random_flip()
          .normalize(kImageNet)
          .layout(Layout::kCHW)
          .batch(64)
          .with_options(options);
    case Task::kT3:
      return images.resize({.height = 64, .width = 64})
          .normalize({})
          .layout(Layout::kCHW)
          .batch(16)
          .with_options(options);
  }
  throw Error("no such task: " + s.task);
}

// Measured once every buffer is in use; start-up counts in first_batch_ms alone.
Round run_headway(const Settings& s, const Dataset& dataset) {
  const int64_t begun = now_ns();
  Pipeline pipeline = dataset.start();
  pipeline.next();
  const double first_ms = double(now_ns() - begun) * 1e-6;
  for (int i = 0; i < kWarmBatches; ++i) pipeline.next();
  const int64_t start = now_ns(), cpu_start = process_cpu_ns();
  int64_t images = 0;
  while (double(now_ns() - start) < s.seconds * 1e9)
    images += pipeline.next()->fields()[0].value.dim(0);
  const double wall = double(now_ns() - start), cpu = double(process_cpu_ns() - cpu_start);
  if (s.explain) fmt::print(stderr, "{}", pipeline.explain());
  return {double(images) / wall * 1e9, cpu / double(images) * 1e-6, first_ms};
}

Round run_bare(const Settings& s, const std::vector<std::string>& paths) {
  const LimitResult r =
      run_limit({.task = task_of(s.task),
                 .mode = s.mode == "fast" ? DecodeMode::kFast : DecodeMode::kExact,
                 .paths = paths,
                 .threads = s.threads,
                 .seconds = s.seconds});
  return {r.images_per_s, r.cpu_ms_per_image, r.first_batch_ms};
}

nlohmann::json child(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return {{"error", "cannot start " + command}};
  std::string text;
  std::array<char, 4096> block;
  while (const size_t n = std::fread(block.data(), 1, block.size(), pipe))
    text.append(block.data(), n);
  const int status = pclose(pipe);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return {{"error", fmt::format("exit status {}", status)}};
  return json;
}

nlohmann::json run_peers(const Settings& s) {
  const std::string script = HEADWAY_PEERS_SCRIPT;
  const auto list = child(script + " --list");
  nlohmann::json peers = nlohmann::json::object();
  if (!list.contains("installed")) return peers;
  for (const auto& [name, about] : list["installed"].items()) {
    const auto& tasks = about["tasks"];
    if (std::find(tasks.begin(), tasks.end(), s.task) == tasks.end()) continue;
    peers[name] =
        child(fmt::format("{} --peer {} --task {} --images '{}' --threads {} --seconds {}", script,
                          name, s.task, s.images, s.threads, 3 * s.seconds));
  }
  return peers;
}

int feed(const Settings& s) {
  const std::vector<std::string> paths = images_in(s.images);
  const Dataset dataset = dataset_for(s, paths);
  Settings warm = s;
  warm.seconds = std::min(1.0, s.seconds);
  run_bare(warm, paths);  // page cache
  std::vector<double> rate, cpu, first, limit_rate, limit_cpu, limit_first, rate_ratio, cpu_ratio;
  for (int i = 0; i < s.rounds; ++i) {
    const Round ours = run_headway(s, dataset), bare = run_bare(s, paths);
    rate.push_back(ours.images_per_s), limit_rate.push_back(bare.images_per_s);
    cpu.push_back(ours.cpu_ms_per_image), limit_cpu.push_back(bare.cpu_ms_per_image);
    first.push_back(ours.first_batch_ms), limit_first.push_back(bare.first_batch_ms);
    rate_ratio.push_back(ours.images_per_s / bare.images_per_s);
    cpu_ratio.push_back(bare.cpu_ms_per_image / ours.cpu_ms_per_image);
  }
  nlohmann::json out = {{"task", s.task},
                        {"mode", s.mode},
                        {"threads", s.threads},
                        {"images", paths.size()},
                        {"rounds", s.rounds},
                        {"images_per_s", median(rate)},
                        {"cpu_ms_per_image", median(cpu)},
                        {"first_batch_ms", median(first)},
                        {"limit_images_per_s", median(limit_rate)},
                        {"limit_cpu_ms_per_image", median(limit_cpu)},
                        {"limit_first_batch_ms", median(limit_first)},
                        {"share_of_limit", median(rate_ratio)},
                        {"cpu_share_of_limit", median(cpu_ratio)}};
  if (s.peers) out["peers"] = run_peers(s);
  if (s.json) {
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("{:<22}{:>12}{:>14}{:>16}{:>12}\n", "", "images/s", "CPU-ms/image", "first batch ms",
             "Headway is");
  const auto row = [&](const std::string& name, double r, double c, double f) {
    fmt::print("{:<22}{:>12.0f}{:>14.3f}{:>16.1f}{:>11.2f}x\n", name, r, c, f, median(rate) / r);
  };
  row("Headway " + s.mode, median(rate), median(cpu), median(first));
  row("bare limit", median(limit_rate), median(limit_cpu), median(limit_first));
  fmt::print("share of the limit, median of {} rounds: {:.3f} by images/s, {:.3f} by CPU time\n",
             s.rounds, median(rate_ratio), median(cpu_ratio));
  if (!s.peers) return 0;
  for (const auto& [name, p] : out["peers"].items()) {
    if (p.contains("images_per_s")) {
      row(name + " " + p.value("version", ""), p["images_per_s"], p["cpu_ms_per_image"],
          p["first_batch_ms"]);
    } else {
      fmt::print("{:<22}{}\n", name, p.dump());
    }
  }
  return 0;
}

double scalars_ns(int threads) {
  constexpr int64_t kCount = 1'000'000;
  const Dataset dataset =
      range(kCount).map([](int64_t x) { return x; }).batch(32).with_options({.threads = threads});
  const int64_t start = now_ns();
  Pipeline pipeline = dataset.start();
  int64_t seen = 0;
  while (auto batch = pipeline.next()) seen += batch->only().dim(0);
  if (seen != kCount) throw Error("scalars: some were lost");
  return double(now_ns() - start) / double(kCount);
}

// On one thread in all (everything inside next()), and with workers that hand batches over.
int scalars(const Settings& s) {
  std::vector<double> alone, handed;
  for (int i = 0; i < s.rounds; ++i) {
    alone.push_back(scalars_ns(0));
    handed.push_back(scalars_ns(s.threads));
  }
  nlohmann::json out = {{"task", "scalars"},
                        {"threads", s.threads},
                        {"ns_per_element", median(alone)},
                        {"ns_per_element_with_workers", median(handed)}};
  if (s.peers) out["peers"] = run_peers(s);
  if (s.json) {
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("1,000,000 scalars through map and batch(32), ns each\n");
  const auto row = [](const std::string& name, const std::string& ns) {
    fmt::print("  {:<34}{}\n", name, ns);
  };
  row("Headway, one thread in all", fmt::format("{:8.1f}", median(alone)));
  row(fmt::format("Headway, {} worker{} + the consumer", s.threads, s.threads == 1 ? "" : "s"),
      fmt::format("{:8.1f}", median(handed)));
  for (const auto& [name, p] : out.value("peers", nlohmann::json::object()).items()) {
    const bool known = p.contains("ns_per_element");
    row(name, known ? fmt::format("{:8.1f}", p["ns_per_element"].get<double>()) : p.dump());
  }
  return 0;
}

}  // namespace
}  // namespace headway::bench

int main(int argc, char** argv) {
  using namespace headway::bench;
  CLI::App app("Feeds images through Headway and through the bare limit, in alternating rounds.");
  Settings s;
  app.add_option("--task", s.task, "t1, t2, t3 or scalars")
      ->check(CLI::IsMember({"t1", "t2", "t3", "scalars"}));
  app.add_option("--mode", s.mode, "exact or fast decoding")
      ->check(CLI::IsMember({"exact", "fast"}));
  app.add_option("--images", s.images, "folder of JPEGs (t1, t2) or PNGs (t3)");
  app.add_option("--threads", s.threads, "threads for everybody");
  app.add_option("--seconds", s.seconds, "length of one round");
  app.add_option("--rounds", s.rounds, "rounds of each")->check(CLI::PositiveNumber);
  app.add_flag("--peers", s.peers, "run the peers that are installed too");
  app.add_flag("--json", s.json, "one JSON object");
  app.add_flag("--explain", s.explain, "print what the pipeline chose");
  CLI11_PARSE(app, argc, argv);
  try {
    if (s.task == "scalars") return scalars(s);
    if (s.images.empty()) throw headway::Error("--images is missing", "name a folder of images");
    return feed(s);
  } catch (const std::exception& e) {
    fmt::print(stderr, "feed_bench: {}\n", e.what());
    return 1;
  }
}
