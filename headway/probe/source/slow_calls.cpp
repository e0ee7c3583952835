#include "headway/probe/source/slow_calls.h"

#include <string_view>

namespace headway {
namespace {

struct Known {
  std::string_view words;
  SlowCall call;
  bool only_in_loops = false;
};
constexpr Known kKnown[] = {
    {".add.at(", SlowCall::kScatter},
    {".subtract.at(", SlowCall::kScatter},
    {".maximum.at(", SlowCall::kScatter},
    {".minimum.at(", SlowCall::kScatter},
    {".multiply.at(", SlowCall::kScatter},
    {"np.append(", SlowCall::kGrowingArray, true},
    {"numpy.append(", SlowCall::kGrowingArray, true},
    {"pd.concat(", SlowCall::kGrowingArray, true},
    {".iterrows(", SlowCall::kPythonOverRows},
    {".apply(lambda", SlowCall::kPythonOverRows},
    {"np.vectorize(", SlowCall::kPythonOverRows},
    {"np.apply_along_axis(", SlowCall::kPythonOverRows},
    {"np.fromiter(", SlowCall::kPythonOverRows},
    {".insert(0,", SlowCall::kFrontOfList},
    {".pop(0)", SlowCall::kFrontOfList},
    {"copy.deepcopy(", SlowCall::kDeepCopy},
    {"linalg.inv(", SlowCall::kInverse},
    {"linalg.pinv(", SlowCall::kInverse},
};

}  // namespace

SlowCall slow_call_in(const std::string& line, int64_t loops) {
  for (const Known& each : kKnown)
    if (line.find(each.words) != std::string::npos && (loops > 0 || !each.only_in_loops))
      return each.call;
  return SlowCall::kNone;
}

}  // namespace headway
