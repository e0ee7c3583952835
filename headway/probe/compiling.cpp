#include "headway/probe/compiling.h"

namespace headway {
namespace {

constexpr double kPauseS = 0.5;  // between two looks that see the same building

}  // namespace

Account Compiling::account_of(const SeenStack& look, double now_s) {
  const SeenFrame* line = look.user_frame();
  const bool same = line && began_s_ >= 0 && line->file == line_.file && line->line == line_.line;
  if (look.activity == Activity::kTrace) {
    if (!same || now_s - ended_s_ > kPauseS) began_s_ = now_s;
    if (line) line_ = *line;
    ended_s_ = now_s;
    return look.account;
  }
  if (same && look.activity == Activity::kStep && now_s - ended_s_ <= ended_s_ - began_s_)
    return Account::kCompiles;
  began_s_ = -1;
  return look.account;
}

}  // namespace headway
