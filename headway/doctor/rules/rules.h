#pragma once

#include <optional>
#include <span>

#include "headway/doctor/finding.h"
#include "headway/doctor/observations.h"

namespace headway {

// One cause looked for. Nothing: it is not there, or there is too little to tell.
using Rule = std::optional<Finding> (*)(const Observations&);

// What a cause does to a run: it takes time, or it makes the result wrong, or it ends it.
enum class Effect : uint8_t { kSlow, kWrong, kRefused };

// Every cause that can be named, with its rule. In this order, so that roots stand before what they
// bring about. Its page is docs/causes/<id>.md.
struct CauseRule {
  Cause cause;
  Rule rule;
  Effect effect = Effect::kSlow;
  std::span<const Cause> brings_about{};  // and so stands before them, as grave as they are
};
std::span<const CauseRule> all_rules();
const CauseRule* rule_of(Cause cause);

// From counters of the run itself, or from looks from outside.
using InsideRule = std::optional<Finding> (*)(const Evidence&);
using OutsideRule = std::optional<Finding> (*)(const OutsideEvidence&);

template <InsideRule... rules>
std::optional<Finding> by_counters(const Observations& o) {
  std::optional<Finding> found;
  if (o.inside()) (void)((found = rules(*o.inside())) || ...);
  return found;
}
// From what the kernel tells of any process.
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
// A rule that tells several causes apart, for one of them.
template <Cause cause, Rule rule>
std::optional<Finding> only(const Observations& o) {
  auto found = rule(o);
  return found && found->cause == cause ? found : std::nullopt;
}

}  // namespace headway
