#include "headway/probe/ledger_counts.h"

#include <algorithm>

namespace headway {
namespace {

constexpr size_t kMostBlocks = 240;
constexpr size_t kMostParts = 16;     // between two readings
constexpr double kNearlyFull = 0.75;  // of a block: another half second would make it too long

// A device that gets its orders in time is busy for nine tenths of any second, including launches
// and copies; one that is busy for less than a third mostly waits, whatever the thread does.
constexpr double kBusy = 0.85, kIdle = 0.3;

void add(LedgerBlock& to, const LedgerEntry& more) {
  for (LedgerEntry& entry : to.entries)
    if (entry.account == more.account && entry.device == more.device) {
      entry.looks += more.looks, entry.seconds += more.seconds;
      return;
    }
  to.entries.push_back(more);
}

void merge(LedgerBlock& to, const LedgerBlock& from) {
  to.seconds += from.seconds, to.steps += from.steps;
  to.cpu_s += from.cpu_s, to.ready_s += from.ready_s;
  to.main_cpu_s += from.main_cpu_s, to.main_ready_s += from.main_ready_s;
  to.model_s += from.model_s;
  to.throttled_s += from.throttled_s, to.neighbours_s += from.neighbours_s;
  to.idle_s += from.idle_s;
  for (const LedgerEntry& entry : from.entries) add(to, entry);
}

double grown(double now, double before) { return std::max(0.0, now - before); }

}  // namespace

DeviceState device_state(double utilisation, Account account) {
  if (utilisation >= kBusy) return DeviceState::kBusy;
  if (utilisation < kIdle) return DeviceState::kIdle;
  // Busy for part of the time: that is the part in which the thread gives it orders or waits for
  // it, not the part in which the thread does something else.
  switch (account) {
    case Account::kComputes:
    case Account::kLaunches:
    case Account::kWaitsForDevice:
    case Account::kValidates: return DeviceState::kBusy;
    default: return DeviceState::kIdle;
  }
}

void LedgerCounts::look(Account account, DeviceState device, double at_s) {
  const double half = at_s >= 0 && looked_s_ >= 0 ? std::max(0.0, at_s - looked_s_) / 2 : 0;
  if (half > 0) add(part_.seen, {looked_.account, looked_.device, 0, half});
  looked_ = {account, device, 1, half}, looked_s_ = at_s;
  add(part_.seen, looked_);
}

void LedgerCounts::end_part(double now_s, int64_t steps) {
  LedgerBlock& seen = part_.seen;
  seen.seconds = std::max(0.0, now_s - seen.at_s);
  seen.steps = std::max<int64_t>(0, steps - last_steps_);
  last_steps_ = steps;
  if (parts_.size() < kMostParts) parts_.push_back(part_);
  else merge(parts_.back().seen, seen);
  part_ = {.seen = {.at_s = now_s, .training = seen.training}, .stage = stage_};
}

void LedgerCounts::cut(double now_s, int64_t steps, bool training) {
  end_part(now_s, steps);
  part_.stage = ++stage_;
  part_.seen.training = training;
}

void LedgerCounts::read(double now_s, const Clocks& clocks, int64_t steps) {
  end_part(now_s, steps);
  double whole = 0;
  for (const Block& part : parts_) whole += part.seen.seconds;
  const Clocks before = has_read_ ? last_ : clocks;
  for (Block& part : parts_) {
    LedgerBlock& seen = part.seen;
    const double share = whole > 0 ? seen.seconds / whole : 0;
    seen.cpu_s = share * grown(clocks.cpu_s, before.cpu_s);
    seen.ready_s = share * grown(clocks.ready_s, before.ready_s);
    seen.main_cpu_s = share * grown(clocks.main_cpu_s, before.main_cpu_s);
    seen.main_ready_s = share * grown(clocks.main_ready_s, before.main_ready_s);
    seen.model_s = share * grown(clocks.model_s, before.model_s);
    seen.throttled_s = share * grown(clocks.throttled_s, before.throttled_s);
    seen.neighbours_s = share * (clocks.neighbours_s - before.neighbours_s);
    seen.idle_s = share * grown(clocks.idle_s, before.idle_s);
    keep(std::move(part));
  }
  parts_.clear();
  last_ = clocks, has_read_ = true;
}

void LedgerCounts::keep(Block part) {
  if (part.seen.seconds <= 0 && part.seen.entries.empty() && part.seen.steps == 0) return;
  if (!blocks_.empty() && blocks_.back().stage == part.stage &&
      blocks_.back().seen.seconds < kNearlyFull * block_s_) {
    merge(blocks_.back().seen, part.seen);
    return;
  }
  blocks_.push_back(std::move(part));
  if (blocks_.size() > kMostBlocks) merge_pairs();
}

void LedgerCounts::merge_pairs() {
  std::vector<Block> merged;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    merged.push_back(std::move(blocks_[i]));
    if (i + 1 == blocks_.size() || blocks_[i + 1].stage != merged.back().stage) continue;
    merge(merged.back().seen, blocks_[++i].seen);
  }
  blocks_ = std::move(merged);
  block_s_ *= 2;
}

std::vector<LedgerBlock> LedgerCounts::blocks() const {
  std::vector<LedgerBlock> out;
  for (const Block& block : blocks_) {
    LedgerBlock& seen = out.emplace_back(block.seen);
    seen.neighbours_s = std::max(0.0, seen.neighbours_s);
  }
  return out;
}

}  // namespace headway
