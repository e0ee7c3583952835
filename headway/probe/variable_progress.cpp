#include "headway/probe/variable_progress.h"

#include <cstdlib>

#include "headway/probe/python_values.h"

namespace headway {
namespace {

// Best first. No `i`: it may count anything, the files that a generator tries in vain among them.
constexpr const char* kCountSteps[] = {"global_step", "step",      "batch_idx", "batch_index",
                                       "batch_id",    "iteration", "begin_step"};
constexpr int64_t kChanges = 2;                  // before it is believed
constexpr int64_t kLargest = 1'000'000'000'000;  // no run takes as many steps
constexpr double kStepMemory = 0.7;              // of the pace so far
constexpr size_t kMostCounters = 200;

}  // namespace

void VariableProgress::take(const std::vector<SeenValue>& values, double now_s) {
  std::map<std::string, int64_t> moving;  // by name, those that are believed
  if (counters_.size() > kMostCounters) counters_.clear();
  for (const SeenValue& value : values) {
    if (kind_of_variable(value.name) != 'n') continue;
    const int64_t number = std::atoll(value.value.c_str());
    if (number < 0 || number > kLargest) continue;
    if (value.name == "epoch") progress_.epoch = number + 1;
    if (value.name == "epochs" || value.name == "n_epochs" || value.name == "num_epochs")
      progress_.epochs = number;
    if (value.name == "steps_per_epoch" && number > 0) progress_.steps_per_epoch = number;
    const auto [known, fresh] =
        counters_.try_emplace(value.function + "\n" + value.name, Counter{number, 0});
    Counter& counter = known->second;
    counter.changes += number != counter.last;
    counter.last = number;
    if (counter.changes >= kChanges) moving.try_emplace(value.name, number);
  }
  for (const char* name : kCountSteps)
    if (const auto found = moving.find(name); found != moving.end())
      return count(found->second, now_s);
}

void VariableProgress::count(int64_t step, double now_s) {
  SeenProgress& p = progress_;
  int64_t done = step - p.step;
  if (p.first_step_s < 0) done = 0, p.first_step_s = now_s;
  if (done < 0) done = step;  // it begins again
  if (done > 0 && p.last_step_s >= 0) {
    const double pace = (now_s - p.last_step_s) / double(done);
    p.step_s = p.step_s > 0 ? kStepMemory * p.step_s + (1 - kStepMemory) * pace : pace;
  }
  if (done > 0 || p.last_step_s < 0) p.last_step_s = now_s;
  p.steps += done;
  p.step = step;
}

}  // namespace headway
