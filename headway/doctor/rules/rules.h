#pragma once

#include <optional>
#include <span>
#include <vector>

#include "headway/doctor/finding.h"
#include "headway/doctor/observations.h"

namespace headway {

// Looks for one cause. Returns nothing when it is absent or when there is too little to tell.
using Rule = std::optional<Finding> (*)(const Observations&);

// What a cause does to a run: it makes it slow, makes its result wrong, or ends it.
enum class Effect : uint8_t { kSlow, kWrong, kRefused };

// Every cause that can be named, with its rule. Of equally severe findings the one that stands
// first here is said first, unless another one brings it about. The page of a cause is
// docs/causes/<id>.md.
struct CauseRule {
  Cause cause;
  Rule rule;
  Effect effect = Effect::kSlow;
  std::span<const Cause> brings_about{};  // listed before these, and at least as severe
};
std::span<const CauseRule> all_rules();
const CauseRule* rule_of(Cause cause);

// The most severe first; of equally severe ones a cause before what it brings about, and else as
// they stand.
void put_in_order(std::vector<Finding>& findings);

// Properties that some causes share; the lists are beside the rules, in table.cpp.
bool is_general(Cause cause);                          // says where the time goes, not why
bool explains_where_time_goes(Cause cause);            // ... and this says why
bool is_of_the_host(Cause cause);                      // does not hold up a GPU that has work
bool works_without_result(Cause cause, bool stepped);  // stuck although the process is busy

// From counters of the run itself, or from looks from outside.
using InsideRule = std::optional<Finding> (*)(const Evidence&);
using OutsideRule = std::optional<Finding> (*)(const OutsideEvidence&);

template <InsideRule... rules>
std::optional<Finding> by_counters(const Observations& o) {
  std::optional<Finding> found;
  if (o.inside()) (void)((found = rules(*o.inside())) || ...);
  return found;
}
// For rules that use what the kernel says about any process.
template <InsideRule rule>
std::optional<Finding> by_kernel(const Observations& o) {
  return rule(o.counters);
}
template <OutsideRule... rules>
std::optional<Finding> by_looks(const Observations& o) {
  std::optional<Finding> found;
  if (o.looks) (void)((found = rules(*o.looks)) || ...);
  return found;
}
template <Rule... rules>
std::optional<Finding> first_of(const Observations& o) {
  std::optional<Finding> found;
  (void)((found = rules(o)) || ...);
  return found;
}
// For a rule that can find several causes: asks it for one of them.
template <Cause cause, Rule rule>
std::optional<Finding> only(const Observations& o) {
  auto found = rule(o);
  return found && found->cause == cause ? found : std::nullopt;
}

}  // namespace headway
