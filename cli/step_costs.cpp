#include "cli/step_costs.h"

#include <algorithm>

#include "cli/interrupt.h"
#include "headway/core/clock.h"

namespace headway::cli {
namespace {

constexpr int64_t kItems = 32;
constexpr int kRounds = 5;  // the quickest counts: what is in the way comes and goes

double cpu_ms_per_item(const Dataset& dataset) {
  check_interrupt();
  Pipeline pipeline = dataset.take(kItems).with_options({.threads = 0}).start();
  const int64_t start = process_cpu_ns();
  int64_t items = 0;
  while (pipeline.next()) ++items;
  return static_cast<double>(process_cpu_ns() - start) * 1e-6 /
         static_cast<double>(std::max<int64_t>(1, items));
}

// "resize_shorter" of the last line of a description.
std::string last_word(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  return text.substr(0, text.find('('));
}

}  // namespace

std::vector<StepCost> step_costs(const Input& input, const std::vector<Operator>& operators) {
  const bool files = input.kind == InputKind::kImageFolder || input.kind == InputKind::kImages;
  std::vector<StepCost> steps = {{.name = "read"}};
  std::vector<Dataset> chains = {files ? input.dataset.read_file() : input.dataset};
  Dataset dataset = input.dataset;
  for (const Operator& op : operators) {
    if (op.kind == Operator::Kind::kBatch) break;
    if (op.kind == Operator::Kind::kElements) continue;
    dataset = op.apply(dataset);
    chains.push_back(dataset);
    steps.push_back({.name = last_word(dataset.describe())});
  }
  // Rounds over all chains rather than one chain after the other, so that a busy moment hits them
  // all.
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < chains.size(); ++i) {
      const double cpu_ms = cpu_ms_per_item(chains[i]);
      steps[i].cpu_ms = round == 0 ? cpu_ms : std::min(steps[i].cpu_ms, cpu_ms);
    }
  }
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i].adds_ms = steps[i].cpu_ms - (i > 0 ? steps[i - 1].cpu_ms : 0);
  return steps;
}

}  // namespace headway::cli
