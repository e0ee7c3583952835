#include "headway/probe/output/variable_progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string_view>

#include "headway/probe/python/python_values.h"

namespace headway {
namespace {

// Best first. From `kWeak` on they may count anything, for example files that a generator tries
// without success: these count only in a loop that trains.
constexpr std::string_view kCountSteps[] = {
    "global_step", "step",      "batch_idx", "batch_index", "batch_id", "iteration", "begin_step",
    "batch_no",    "minibatch", "update",    "iter",        "iters",    "it",        "batch",
    "b",           "i",         "n",         "k",           "t",        "epoch"};
constexpr size_t kWeak = 7, kEpoch = std::size(kCountSteps) - 1;
constexpr double kShortEpochS = 2;     // a shorter one may be the step itself
constexpr int64_t kSmallestBatch = 4;  // a stride of at least this may be a batch size
constexpr int64_t kChanges = 2;        // before it is trusted
constexpr double kSteadilyS = 5;       // it must rise for this long if steps cannot be seen
constexpr int64_t kRises = 4;          // ... and this often
constexpr double kStaysS = 10;         // a better one keeps its place this long while not seen
constexpr int64_t kLargest = 1'000'000'000'000;  // no run makes this many steps
constexpr double kStepMemory = 0.7;              // share of the old pace that is kept
constexpr size_t kMostCounters = 200;

size_t rank_of(const std::string& name) {
  return static_cast<size_t>(std::find(std::begin(kCountSteps), std::end(kCountSteps), name) -
                             std::begin(kCountSteps));
}

}  // namespace

void VariableProgress::note_facts(const SeenValue& value, int64_t number) {
  if (value.name == "epoch") progress_.epoch = number + 1;
  if (value.name == "epochs" || value.name == "n_epochs" || value.name == "num_epochs")
    progress_.epochs = number;
  if (value.name == "steps_per_epoch" && number > 0) progress_.steps_per_epoch = number;
}

bool VariableProgress::is_believed(const SeenValue& value, const Counter& counter,
                                   const Loops& loops, double now_s) const {
  if (counter.changes < kChanges) return false;
  if (rank_of(value.name) < kWeak) return true;
  if (!value.users) return false;
  if (value.name == "epoch" && (counter.rises < kRises || now_s - counter.rises_since_s >
                                                              kShortEpochS * double(counter.risen)))
    return false;
  if (loops.framework) return loops.stepping.count(value.function) > 0;
  return value.function + "\n" + value.name == chosen_ ||
         (counter.rises >= kRises && now_s - counter.rises_since_s >= kSteadilyS);
}

void VariableProgress::take(const std::vector<SeenValue>& values, const Loops& loops,
                            double now_s) {
  if (counters_.size() > kMostCounters) counters_.clear();
  std::optional<Found> best;
  for (const SeenValue& value : values) {
    if (kind_of_variable(value.name) != 'n') continue;
    char* end = nullptr;
    const int64_t number = std::strtoll(value.value.c_str(), &end, 10);
    if (end == value.value.c_str() || *end != '\0' || number < 0 || number > kLargest) continue;
    note_facts(value, number);
    const size_t rank = rank_of(value.name);
    if (rank == std::size(kCountSteps)) continue;
    const std::string key = value.function + "\n" + value.name;
    const auto [known, fresh] = counters_.try_emplace(key, Counter{number, 0, now_s, 0, 0, 0});
    Counter& counter = known->second;
    counter.changes += number != counter.last;
    counter.rises += number > counter.last;
    counter.risen += number - counter.last;
    if (number < counter.last) counter.rises = counter.risen = 0, counter.rises_since_s = now_s;
    counter.last = number;
    counter.stride = std::gcd(counter.stride, number);
    // Among equals take the outermost: it comes last.
    if (is_believed(value, counter, loops, now_s) && (!best || rank <= best->rank))
      best = Found{key, rank, number, rank >= kWeak && rank < kEpoch ? counter.stride : 1};
  }
  if (best) count(*best, now_s);
  take_loss(values, now_s);
}

void VariableProgress::count(const Found& found, double now_s) {
  SeenProgress& p = progress_;
  if (found.key != chosen_) {
    if (!chosen_.empty() && found.rank > chosen_rank_ && now_s - chosen_s_ < kStaysS) return;
    chosen_ = found.key, chosen_rank_ = found.rank;
    p.step = found.step;  // what it was before is not known
  }
  chosen_s_ = now_s;
  // for i in range(0, n, batch_size): it counts samples.
  const int64_t stride = found.stride >= kSmallestBatch ? found.stride : 1;
  int64_t done = found.step - p.step;
  if (p.first_step_s < 0) done = 0, p.first_step_s = now_s;
  if (done < 0) done = found.step;  // it starts again
  if (done > 0 && p.last_step_s >= 0) {
    const double pace = (now_s - p.last_step_s) * double(stride) / double(done);
    p.step_s = p.step_s > 0 ? kStepMemory * p.step_s + (1 - kStepMemory) * pace : pace;
  }
  if (done > 0 || p.last_step_s < 0) p.last_step_s = now_s;
  p.steps += stride > 1 ? (done + stride - 1) / stride : done;
  p.step = found.step;
}

// If steps are counted, an unchanged value is the loss of another step.
void VariableProgress::take_loss(const std::vector<SeenValue>& values, double now_s) {
  const auto found = std::find_if(values.begin(), values.end(), [](const SeenValue& value) {
    return value.users && names_a_loss(value.name);
  });
  if (found == values.end()) return;
  char* end = nullptr;
  const double value = std::strtod(found->value.c_str(), &end);
  if (end == found->value.c_str()) return;
  const bool same = value == last_loss_ || (std::isnan(value) && std::isnan(last_loss_));
  if (!losses_.empty() && same && progress_.steps == last_loss_step_) return;
  last_loss_ = value, last_loss_step_ = progress_.steps;
  losses_.add(now_s, progress_.steps, value);
  progress_.losses = losses_.finite, progress_.bad_losses = losses_.bad;
  progress_.loss = losses_.last, progress_.first_loss = losses_.first;
}

}  // namespace headway
