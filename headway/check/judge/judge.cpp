#include "headway/check/judge/judge.h"

#include <algorithm>

namespace headway {
namespace {

constexpr void (*kJudges[])(const MachineFacts&, CheckLines&) = {
    judge_gpus,   judge_frameworks, judge_cuda_libraries, judge_own_trainer, judge_cores,
    judge_memory, judge_limits,     judge_disk,           judge_permissions, judge_script,
};

int weight(Fit fit) {
  switch (fit) {
    case Fit::kWrong: return 0;
    case Fit::kDoubtful: return 1;
    case Fit::kNotSeen: return 2;
    case Fit::kGood: return 3;
  }
  return 3;
}

}  // namespace

CheckLines judge(const MachineFacts& facts) {
  CheckLines lines;
  for (const auto each : kJudges) each(facts, lines);
  std::stable_sort(lines.begin(), lines.end(), [](const CheckLine& a, const CheckLine& b) {
    if (a.topic != b.topic) return a.topic < b.topic;
    return weight(a.fit) < weight(b.fit);
  });
  return lines;
}

}  // namespace headway
