#include "headway/probe/run_rates.h"

#include <algorithm>

namespace headway {
namespace {

constexpr double kLate = 0.6;         // how much of the last rate stays in "recently"
constexpr double kReadMoves = 100e3;  // bytes per second that count as moving

void smooth(double& rate, double now) { rate = kLate * rate + (1 - kLate) * now; }

}  // namespace

bool RunRates::take(double now_s, const Sums& now, Outside& out) {
  const double passed = now_s - last_s_;
  bool moves = false;
  if (passed > 0) {
    const double read = std::max(0.0, (now.read_bytes - last_.read_bytes) / passed);
    const double waited = std::max(0.0, now.ready_s - last_.ready_s);
    const double used = std::max(0.0, now.cpu_s - last_.cpu_s);
    smooth(out.read_rate, read);
    smooth(out.wanted_cores, (waited + used) / passed);
    if (waited + used > 0) smooth(out.ready_share, waited / (waited + used));
    moves = read >= kReadMoves && last_s_ > 0;
  }
  last_ = now, last_s_ = now_s;
  return moves;
}

}  // namespace headway
