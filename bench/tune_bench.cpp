// Does the pipeline tune itself? Workloads run with threads chosen by hand and chosen by Headway,
// in alternating rounds; the automatic one is measured from the fifth second on.
//
//   tune_bench [--images DIR] [--rounds 3] [--json]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "headway/core/clock.h"
#include "headway/core/median.h"
#include "headway/headway.h"

using namespace headway;

namespace {

constexpr double kSettleS = 5, kMeasureS = 2;

struct Workload {
  std::string name;
  Dataset dataset;
  std::vector<int> by_hand;
};

double rate(const Dataset& dataset, double settle_s) {
  Pipeline pipeline = dataset.start();
  const int64_t begun = now_ns();
  while (double(now_ns() - begun) < settle_s * 1e9) pipeline.next();
  const int64_t start = now_ns();
  int64_t batches = 0;
  while (double(now_ns() - start) < kMeasureS * 1e9) batches += pipeline.next().has_value();
  return double(batches) / double(now_ns() - start) * 1e9;
}

int64_t burn(int64_t x) {  // a CPU-bound map of about 100 microseconds
  uint64_t h = static_cast<uint64_t>(x);
  for (int i = 0; i < 60'000; ++i) h = mix(h, i);
  return static_cast<int64_t>(h);
}

int64_t wait_5ms(int64_t x) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Threads chosen by hand and by Headway, side by side.");
  std::string images;
  int rounds = 3;
  bool json = false;
  app.add_option("--images", images, "a folder of JPEGs for a workload of decoding");
  app.add_option("--rounds", rounds, "rounds of each");
  app.add_flag("--json", json, "one JSON object");
  CLI11_PARSE(app, argc, argv);

  std::vector<Workload> workloads{
      {"map that computes", range(1000).repeat().map(burn).batch(32), {1, 2, 4}},
      {"map that waits 5 ms", range(1000).repeat().map(wait_5ms).batch(32), {2, 8, 32, 128}},
      {"half and half",
       range(1000).repeat().map(burn).map(wait_5ms).batch(32),
       {2, 8, 32, 64, 128}},
  };
  if (!images.empty()) {
    workloads.push_back({"decoding",
                         files(images + "/**/*.{jpg,jpeg,JPG,JPEG}")
                             .repeat()
                             .decode_image()
                             .resize({.height = 224, .width = 224})
                             .batch(32),
                         {1, 2, 4}});
  }
  nlohmann::json out = nlohmann::json::object();
  for (const Workload& w : workloads) {
    std::map<int, std::vector<double>> hand;
    std::vector<double> automatic;
    for (int i = 0; i < rounds; ++i) {
      for (int threads : w.by_hand)
        hand[threads].push_back(rate(w.dataset.with_options({.threads = threads}), 0.5));
      automatic.push_back(rate(w.dataset, kSettleS));
    }
    std::pair<int, double> best{0, 0};
    for (const auto& [threads, rates] : hand) {
      if (median(rates) > best.second) best = {threads, median(rates)};
    }
    const double ratio = median(automatic) / best.second;
    out[w.name] = {{"best_threads", best.first},
                   {"best_batches_per_s", best.second},
                   {"auto_batches_per_s", median(automatic)},
                   {"share_of_best", ratio}};
    if (!json) {
      fmt::print(
          "{:<22} best by hand {:>4} threads {:>9.1f} batches/s   automatic {:>9.1f}   {:.3f} of "
          "it\n",
          w.name, best.first, best.second, median(automatic), ratio);
    }
  }
  if (json) fmt::print("{}\n", out.dump());
}
