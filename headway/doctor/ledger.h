#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "headway/doctor/blocks.h"
#include "headway/trace/trace.h"

namespace headway {

// A share of the time, with its 95 % confidence interval.
struct Share {
  double share = 0, low = 0, high = 0;
};

struct LedgerLine {
  Account account = Account::kUnknown;
  DeviceState device = DeviceState::kNone;
  Share time{};
  std::string where{};  // the user's line, or the part of our own run, where most of it is spent
};

// An account as a whole, whatever the device did meanwhile.
struct AccountTime {
  Account account = Account::kUnknown;
  Share time{};
  std::optional<Estimate> s_per_step{};  // none: no steps were counted
};

// Where the training thread's time went: every moment belongs to one account, and the shares add up
// to 1. Works the same for both eyes: timers inside, counted looks outside. Errors are estimated
// from blocks of time, because neighbouring moments are alike.
class Ledger {
 public:
  // Covers the steady part of training, or everything if training has not begun. `last_s`: only the
  // last so many seconds of it.
  explicit Ledger(const Trace& trace, double last_s = 1e18);

  const std::vector<LedgerLine>& lines() const { return lines_; }  // largest first
  double seconds() const { return seconds_; }
  double looks() const { return looks_; }
  bool training() const { return training_; }
  bool is_enough() const;           // to say anything about speed
  Share of(Account account) const;  // whatever the device did meanwhile
  Share of(Account account, DeviceState device) const;
  Share of(std::initializer_list<Account> accounts) const;  // together
  // The same, relative to the time that neighbours left to the run: the share without them.
  Share alone(std::initializer_list<Account> accounts) const;
  const std::string& where(Account account) const;
  // Of the same time: steps with all that is done between them, 0 if none were counted.
  Estimate steps_per_s() const;
  std::vector<AccountTime> accounts() const;  // largest first, intervals as in lines()

 private:
  struct Block {
    double seconds = 0, looks = 0, steps = 0;
    std::vector<double> shares{};  // by account and device
  };
  void take_looks(const Trace& trace, double last_s);
  void take_timers(const Trace& trace, double last_s);
  void sum_up(const Trace& trace);
  Estimate ratio(const std::vector<size_t>& cells, double Block::*weight) const;
  double looks_error(double share) const;
  Share share_of(const std::vector<size_t>& cells) const;
  // With what is not known of it besides chance.
  Share widened(Share share, Account account, DeviceState device) const;

  std::vector<Block> blocks_;
  std::vector<LedgerLine> lines_;
  double seconds_ = 0, looks_ = 0;
  // Time in the user's own code without a framework: it counts as training, but from outside nobody
  // can tell which lines train and which make data. The lines' intervals say so.
  double unsure_s_ = 0;
  bool training_ = false, sampled_ = false;
};

std::vector<LedgerLine> ledger_of(const Trace& trace);  // for display

// Is this look at the user's own code part of the training itself? Yes where a step, or the
// building of one, was seen on the same line. Elsewhere in such a function only when the line just
// calls a library that is not known for making data.
class TrainingLines {
 public:
  explicit TrainingLines(const Outside& seen);
  bool trains(const SeenStack& stack) const;  // of account kRunsOwnCode
  // Does a step of the same function use what the line makes? Where the source cannot be read: does
  // the line come before that step?
  bool feeds(const SeenStack& stack) const;

 private:
  using Key = std::tuple<std::string, std::string, int64_t>;
  static Key key_of(const SeenFrame& frame);
  bool same_function(const SeenFrame& a, const SeenFrame& b) const;

  bool framework_ = false;
  std::vector<const SeenFrame*> lines_;  // the user's frames of steps
  std::set<Key> calls_;                  // lines that call a function of the user's
};

}  // namespace headway
