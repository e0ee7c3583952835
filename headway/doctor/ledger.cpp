#include "headway/doctor/ledger.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "headway/doctor/evidence.h"
#include "headway/doctor/outside_evidence.h"

namespace headway {
namespace {

constexpr size_t kDevices = std::size(Texts<DeviceState>::all);
constexpr size_t kCells = kAccounts * kDevices;
constexpr double kEnoughLooks = 60, kEnoughS = 4;
// Share of the time that looks may put into the wrong account, besides chance; see the README. It
// widens the interval of each line; rules have thresholds of their own.
constexpr double kMistaken = 0.03;
constexpr int64_t kManyPlaces = 8;  // different instructions: Python itself runs, not one long call

size_t cell(Account account, DeviceState device) {
  return static_cast<size_t>(account) * kDevices + static_cast<size_t>(device);
}

// From outside, without a framework: the same code may be the training.
bool may_be_own(Account account) {
  return account == Account::kMakesData || account == Account::kRunsOwnCode;
}

std::vector<size_t> cells_of(std::initializer_list<Account> accounts) {
  std::vector<size_t> cells;
  for (const Account account : accounts)
    for (size_t d = 0; d < kDevices; ++d)
      cells.push_back(cell(account, static_cast<DeviceState>(d)));
  return cells;
}

// For how much of the time threads were ready but had no core, and why.
struct NoCore {
  double share = 0;              // of all threads
  double main_s = 0;             // of the training thread, per second
  double quota = 0, others = 0;  // shares of it; the rest was used by the run itself
};

NoCore no_core(double cpu_s, double ready_s, double main_s, double throttled_s,
               double neighbours_s) {
  NoCore out{.main_s = main_s};
  if (cpu_s + ready_s > 0) out.share = ready_s / (cpu_s + ready_s);
  if (ready_s <= 0) return out;
  out.quota = std::min(1.0, throttled_s / ready_s);
  out.others = std::min(1 - out.quota, neighbours_s / ready_s);
  return out;
}

// Accounts that need a core: without a core the thread does not do what the account says.
bool needs_core(Account account) {
  switch (account) {
    case Account::kPrepares:
    case Account::kComputes:
    case Account::kLaunches:
    case Account::kMakesData:
    case Account::kCompiles:
    case Account::kValidates:
    case Account::kLogs:
    case Account::kCollectsGarbage:
    case Account::kRunsOwnCode: return true;
    default: return false;
  }
}

// TensorFlow fetches batches inside its steps. While neither the training thread nor a thread that
// never runs Python computes or is ready to, the step waits for data.
void wait_for_data(std::vector<double>& shares, const LedgerBlock& b) {
  double& computes = shares[cell(Account::kComputes, DeviceState::kNone)];
  if (b.seconds <= 0) return;
  const double busy = (b.model_s + b.main_cpu_s + b.main_ready_s) / b.seconds;
  const double waits = std::max(0.0, computes - busy);
  computes -= waits;
  shares[cell(Account::kWaitsForData, DeviceState::kNone)] += waits;
}

// Takes the time without a core out of the accounts that need one. A step runs on many threads:
// another process that takes a core from one of them delays it. Threads of the run that take turns
// do not, as the cores work for the run; they count only if the training thread itself waits.
void split_off(std::vector<double>& shares, const NoCore& no_core) {
  const double own = std::max(0.0, 1 - no_core.quota - no_core.others);
  double needed = 0;  // share of the time in accounts that need a core
  for (size_t at = 0; at < shares.size(); ++at)
    if (needs_core(static_cast<Account>(at / kDevices))) needed += shares[at];
  const double main = needed > 0 ? std::min(1.0, no_core.main_s / needed) : 0;
  for (size_t a = 0; a < kAccounts; ++a) {
    const auto account = static_cast<Account>(a);
    if (!needs_core(account)) continue;
    const bool steps = account == Account::kComputes || account == Account::kValidates;
    const double by_others = steps ? no_core.share : main;
    for (size_t d = 0; d < kDevices; ++d) {
      const auto device = static_cast<DeviceState>(d);
      double& left = shares[cell(account, device)];
      const double whole = left;
      const auto give = [&](Account to, double part) {
        shares[cell(to, device)] += whole * part, left -= whole * part;
      };
      give(Account::kNoCoreQuota, by_others * no_core.quota);
      give(Account::kNoCoreNeighbours, by_others * no_core.others);
      give(Account::kNoCoreOwn, main * own);
    }
  }
}

// Of the looks at the user's own code: how many are the training itself, and how many make the data
// that it uses.
struct OwnParts {
  double trains = 0, feeds = 0;
};

OwnParts own_parts(const Outside& seen) {
  const TrainingLines lines(seen);
  int64_t all = 0, trains = 0, feeds = 0;
  for (const SeenStack& stack : seen.stacks) {
    if (stack.process != Role::kMain || !stack.main_thread || !stack.training) continue;
    if (stack.account != Account::kRunsOwnCode) continue;
    all += stack.samples;
    if (lines.trains(stack)) trains += stack.samples;
    else if (lines.feeds(stack)) feeds += stack.samples;
  }
  if (all == 0) return {};
  return {double(trains) / double(all), double(feeds) / double(all)};
}

Account account_of(StepPhase phase, bool gpu) {
  switch (phase) {
    case StepPhase::kWaitForData: return Account::kWaitsForData;
    case StepPhase::kUpload: return Account::kLaunches;
    case StepPhase::kCallbacks: return Account::kLogs;
    case StepPhase::kCheckpoint: return Account::kCheckpoints;
    case StepPhase::kValidation: return Account::kValidates;
    case StepPhase::kMetrics: return gpu ? Account::kWaitsForDevice : Account::kComputes;
    default: return gpu ? Account::kLaunches : Account::kComputes;
  }
}

}  // namespace

TrainingLines::TrainingLines(const Outside& seen) : framework_(seen.framework != Framework::kNone) {
  for (const SeenStack& stack : seen.stacks) {
    if (stack.process != Role::kMain || !stack.main_thread) continue;
    bool called_by_users = false;
    for (const SeenFrame& frame : stack.frames)
      if (frame.users && std::exchange(called_by_users, true)) calls_.insert(key_of(frame));
    if (stack.activity != Activity::kStep && stack.activity != Activity::kTrace &&
        stack.activity != Activity::kFit)
      continue;
    for (const SeenFrame& frame : stack.frames)
      if (frame.users) lines_.push_back(&frame);
  }
}

TrainingLines::Key TrainingLines::key_of(const SeenFrame& frame) {
  return {frame.file, frame.function, frame.line};
}

bool TrainingLines::same_function(const SeenFrame& a, const SeenFrame& b) const {
  return a.function == b.function && a.file == b.file;
}

bool TrainingLines::trains(const SeenStack& stack) const {
  const SeenFrame* frame = stack.user_frame();
  if (!frame) return false;
  if (!framework_) return true;  // a program without a framework trains by itself
  bool function = false;
  for (const SeenFrame* line : lines_) {
    if (!same_function(*line, *frame)) continue;
    function = true;
    if (line->line == frame->line) return true;
  }
  const bool interprets = stack.places >= kManyPlaces && 2 * stack.top_place < stack.samples;
  if (!function || frame != &stack.frames[0] || frame->array_call || interprets) return false;
  // Of a look that was cut short only the call of the function that makes a batch may be left.
  return !calls_.count(key_of(*frame)) || !feeds(stack);
}

bool TrainingLines::feeds(const SeenStack& stack) const {
  for (const SeenFrame& frame : stack.frames) {
    if (!frame.users) continue;
    int64_t first = 0;
    for (const SeenFrame* line : lines_)
      if (same_function(*line, frame))
        first = first == 0 ? line->line : std::min(first, line->line);
    if (first == 0) continue;
    if (frame.text.empty()) return frame.line <= first;  // the source cannot be read
    return std::any_of(lines_.begin(), lines_.end(), [&](const SeenFrame* line) {
      return same_function(*line, frame) &&
             std::find(frame.feeds.begin(), frame.feeds.end(), line->line) != frame.feeds.end();
    });
  }
  return false;
}

Ledger::Ledger(const Trace& trace, double last_s) : sampled_(trace.outside.seen) {
  if (sampled_) {
    take_looks(trace, last_s);
  } else {
    take_timers(trace, last_s);
  }
  sum_up(trace);
}

void Ledger::take_looks(const Trace& trace, double last_s) {
  const Outside& seen = trace.outside;
  const double first_step = seen.progress.first_step_s;
  const double end = seen.ledger.empty() ? 0 : seen.ledger.back().at_s + seen.ledger.back().seconds;
  // Until the thread that asks for elements is known, a step that waits for data looks like one
  // that computes.
  const double known = seen.native.takers_since_s;
  const bool known_long = known >= 0 && end - known >= 2 * kEnoughS;
  const auto steady = [&](const LedgerBlock& b) {
    return b.training && (first_step < 0 || b.at_s >= first_step - 0.5) &&
           (!known_long || b.at_s >= known);
  };
  training_ = std::any_of(seen.ledger.begin(), seen.ledger.end(), steady);
  const OwnParts own = own_parts(seen);
  for (const LedgerBlock& b : seen.ledger) {
    if ((training_ && !steady(b)) || b.at_s + b.seconds <= end - last_s) continue;
    Block& block = blocks_.emplace_back();
    block.seconds = b.seconds, block.steps = double(b.steps);
    block.shares.resize(kCells);
    double seconds = 0;
    for (const LedgerEntry& entry : b.entries)
      block.looks += double(entry.looks), seconds += entry.seconds;
    if (block.looks <= 0) {
      blocks_.pop_back();
      continue;
    }
    for (const LedgerEntry& entry : b.entries) {
      const double share =
          seconds > 0 ? entry.seconds / seconds : double(entry.looks) / block.looks;
      const bool gpu = entry.device != DeviceState::kNone;
      if (entry.account == Account::kRunsOwnCode) {
        if (seen.framework == Framework::kNone) unsure_s_ += share * b.seconds;
        block.shares[cell(Account::kRunsOwnCode, entry.device)] +=
            share * (1 - own.trains - own.feeds);
        block.shares[cell(Account::kComputes, entry.device)] += share * own.trains;
        block.shares[cell(Account::kMakesData, entry.device)] += share * own.feeds;
      } else if (entry.account == Account::kWaitsForDevice && !gpu) {
        block.shares[cell(Account::kComputes, entry.device)] += share;
      } else {
        block.shares[cell(entry.account, entry.device)] += share;
      }
    }
    // Once that thread is known, the looks already say so.
    if (seen.model_threads > 0 && (known < 0 || b.at_s < known)) wait_for_data(block.shares, b);
    const double main_s = b.seconds > 0 ? b.main_ready_s / b.seconds : 0;
    split_off(block.shares, no_core(b.cpu_s, b.ready_s, main_s, b.throttled_s, b.neighbours_s));
  }
}

void Ledger::take_timers(const Trace& trace, double last_s) {
  if (trace.samples.size() < 2) return;
  const Evidence evidence(trace);
  const bool gpu = trace.run.on_gpu();
  const double end = trace.samples.back().at_s;
  training_ = evidence.started();
  const TraceReading* before = nullptr;
  for (const TraceReading& now : trace.samples) {
    const TraceReading* from = std::exchange(before, &now);
    if (!from || from->at_s < evidence.first.at_s || now.at_s <= end - last_s) continue;
    const double seconds = now.at_s - from->at_s;
    if (seconds <= 0) continue;
    Block& block = blocks_.emplace_back();
    block.seconds = block.looks = seconds;
    block.steps = double(now.steps - from->steps);
    block.shares.resize(kCells);
    const double busy = now.gpu.busy_s - from->gpu.busy_s;
    const DeviceState device = !gpu                  ? DeviceState::kNone
                               : 2 * busy >= seconds ? DeviceState::kBusy
                                                     : DeviceState::kIdle;
    double left = 1;
    for (size_t i = 0; i < kStepPhases; ++i) {
      const auto phase = static_cast<StepPhase>(i);
      const double spent = std::min(left, (now.times[phase] - from->times[phase]) / seconds);
      if (spent <= 0) continue;
      block.shares[cell(account_of(phase, gpu), device)] += spent;
      left -= spent;
    }
    block.shares[cell(Account::kUnknown, device)] += left;
    const double cpu = now.system.cpu_s - from->system.cpu_s;
    const double ready = now.system.run_queue_wait_s - from->system.run_queue_wait_s;
    const double idle = now.system.idle_s - from->system.idle_s;
    const double others =
        now.system.idle_s > 0
            ? std::max(0.0, double(trace.run.machine_cores) * seconds - idle - cpu)
            : 0;
    split_off(block.shares,
              no_core(cpu, ready, 0, now.system.throttled_s - from->system.throttled_s, others));
  }
}

Estimate Ledger::ratio(const std::vector<size_t>& cells, double Block::*weight) const {
  std::vector<double> parts, weights;
  for (const Block& block : blocks_) {
    double& part = parts.emplace_back();
    for (const size_t at : cells) part += block.shares[at] * block.seconds;
    weights.push_back(block.*weight);
  }
  return ratio_of(parts, weights);
}

// What chance may do to a share that was counted in looks: an account that was never or always
// seen may still be rare.
double Ledger::looks_error(double share) const {
  if (!sampled_) return 0;
  const double single = share * (1 - share) / std::max(1.0, looks_);
  return std::max(2 * std::sqrt(single), 3 / std::max(3.0, looks_));
}

Share Ledger::share_of(const std::vector<size_t>& cells) const {
  if (blocks_.empty() || seconds_ <= 0) return {};
  const Estimate by_blocks = ratio(cells, &Block::seconds);
  const double error = std::max(by_blocks.high - by_blocks.value, looks_error(by_blocks.value));
  return {by_blocks.value, std::clamp(by_blocks.value - error, 0.0, 1.0),
          std::clamp(by_blocks.value + error, 0.0, 1.0)};
}

void Ledger::sum_up(const Trace& trace) {
  for (const Block& block : blocks_) seconds_ += block.seconds, looks_ += block.looks;
  std::map<Account, std::string> places;
  if (sampled_) {
    const TrainingLines training(trace.outside);
    std::map<std::pair<Account, std::string>, int64_t> counts;
    for (const SeenStack& stack : trace.outside.stacks) {
      if (stack.process != Role::kMain || !stack.main_thread || stack.training != training_)
        continue;
      const SeenFrame* frame = stack.user_frame();
      if (!frame) continue;
      Account account = stack.account;
      if (account == Account::kRunsOwnCode && training.trains(stack)) account = Account::kComputes;
      else if (account == Account::kRunsOwnCode && training.feeds(stack))
        account = Account::kMakesData;
      counts[{account, place_text(*frame)}] += stack.samples;
    }
    std::map<Account, int64_t> most;
    for (const auto& [key, samples] : counts)
      if (samples > most[key.first]) most[key.first] = samples, places[key.first] = key.second;
  }
  for (size_t at = 0; at < kCells; ++at) {
    Share share = share_of({at});
    const auto account = static_cast<Account>(at / kDevices);
    const auto device = static_cast<DeviceState>(at % kDevices);
    share = widened(share, account, device);
    const bool may_have_some = unsure_s_ > 0 && may_be_own(account) && device == DeviceState::kNone;
    if (share.share <= 0 && !may_have_some) continue;
    lines_.push_back({account, device, share, places[account]});
  }
  std::stable_sort(lines_.begin(), lines_.end(), [](const LedgerLine& a, const LedgerLine& b) {
    return a.time.share > b.time.share;
  });
}

bool Ledger::is_enough() const {
  return training_ && seconds_ >= kEnoughS && (!sampled_ || looks_ >= kEnoughLooks);
}

Share Ledger::widened(Share share, Account account, DeviceState device) const {
  if (sampled_) {
    share.low = std::max(0.0, share.low - kMistaken);
    share.high = std::min(1.0, share.high + kMistaken);
  }
  const double unsure = seconds_ > 0 ? unsure_s_ / seconds_ : 0;
  if (account == Account::kComputes) share.low = std::max(0.0, share.low - unsure);
  if (may_be_own(account) && device == DeviceState::kNone)
    share.high = std::min(1.0, share.high + unsure);
  return share;
}

Estimate Ledger::steps_per_s() const {
  if (blocks_.empty() || seconds_ <= 0) return {};
  std::vector<double> steps, seconds;
  for (const Block& block : blocks_) steps.push_back(block.steps), seconds.push_back(block.seconds);
  return ratio_of(steps, seconds);
}

std::vector<AccountTime> Ledger::accounts() const {
  const double steps = std::accumulate(blocks_.begin(), blocks_.end(), 0.0,
                                       [](double sum, const Block& b) { return sum + b.steps; });
  std::vector<AccountTime> out;
  for (size_t a = 0; a < kAccounts; ++a) {
    const auto account = static_cast<Account>(a);
    const Share share = of(account);
    if (share.share <= 0) continue;
    AccountTime& each =
        out.emplace_back(AccountTime{account, widened(share, account, DeviceState::kNone), {}});
    if (steps <= 0) continue;
    const Estimate own = ratio(cells_of({account}), &Block::steps);
    const double error = own.high - own.value, per_step = seconds_ / steps;
    const double below = std::max(error, per_step * (each.time.share - each.time.low));
    const double above = std::max(error, per_step * (each.time.high - each.time.share));
    each.s_per_step = {own.value, std::max(0.0, own.value - below), own.value + above};
  }
  std::ranges::stable_sort(out, std::greater<>(),
                           [](const AccountTime& a) { return a.time.share; });
  return out;
}

Share Ledger::of(Account account) const { return of({account}); }

Share Ledger::of(Account account, DeviceState device) const {
  return share_of({cell(account, device)});
}

Share Ledger::of(std::initializer_list<Account> accounts) const {
  return share_of(cells_of(accounts));
}

Share Ledger::alone(std::initializer_list<Account> accounts) const {
  Share out = of(accounts);
  const double left = std::max(0.1, 1 - of(Account::kNoCoreNeighbours).share);
  for (double* each : {&out.share, &out.low, &out.high}) *each = std::min(1.0, *each / left);
  return out;
}

const std::string& Ledger::where(Account account) const {
  static const std::string kNowhere;
  for (const LedgerLine& line : lines_)
    if (line.account == account) return line.where;
  return kNowhere;
}

std::vector<LedgerLine> ledger_of(const Trace& trace) { return Ledger(trace).lines(); }

}  // namespace headway
