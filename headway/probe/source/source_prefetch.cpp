#include "headway/probe/source/source_prefetch.h"

#include <algorithm>
#include <set>

#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

constexpr size_t kMostStatements = 4000, kMostNames = 64;

// Which of the two a statement calls last, in its outermost chain.
enum class Last { kNeither, kPrefetch, kMap };

struct Chain {
  Last last = Last::kNeither;
  bool maps_behind = false;  // ... and a prefetch() comes before that map()
  int64_t line = 0;          // of the map()
};

Chain chain_of(const PythonSource& source, const SourceStatement& statement) {
  Chain out;
  bool prefetched = false;
  size_t at = 0;
  for (size_t c = statement.calls_begin; c < statement.calls_end; ++c) {
    const SourceCall& call = source.calls()[c];
    const bool prefetch = call.last_name() == "prefetch", map = call.last_name() == "map";
    if ((!prefetch && !map) || call.inside != kNowhere || call.end < at) continue;
    at = call.end;
    if (map) out = {Last::kMap, prefetched, call.line};
    else out.last = Last::kPrefetch, out.maps_behind = false, prefetched = true;
  }
  return out;
}

// "train" of "train.map(f)", "make" of "make(paths).map(f)".
std::string_view first_name(std::string_view value) {
  if (value.starts_with("return ")) value.remove_prefix(7);
  return value.substr(0, value.find_first_of(".( ["));
}

}  // namespace

int64_t map_behind_prefetch(const PythonSource& source) {
  const auto& statements = source.statements();
  if (statements.size() > kMostStatements) return 0;
  std::set<std::string_view> prefetched;  // variables, and functions that return such a dataset
  int64_t found = 0;
  for (int round = 0; round < 2; ++round) {  // functions may come after their callers
    found = 0;
    for (size_t i = 0; i < statements.size(); ++i) {
      const SourceStatement& each = statements[i];
      const Chain chain = chain_of(source, each);
      const std::string_view from = first_name(trimmed(each.value));
      const bool late = chain.last == Last::kMap && (chain.maps_behind || prefetched.count(from));
      if (late && found == 0) found = chain.line;
      if (chain.last == Last::kPrefetch) found = 0;  // this one is the last
      const bool hands_on = chain.last == Last::kNeither && prefetched.count(from) > 0;
      if ((chain.last != Last::kPrefetch && !hands_on) || prefetched.size() > kMostNames) {
        if (!each.assigns.empty()) prefetched.erase(each.assigns);
        continue;
      }
      if (!each.assigns.empty()) prefetched.insert(each.assigns);
      const size_t function = source.around(i, "def ");
      if (each.starts_with("return ") && function != kNowhere) {
        const std::string_view text = statements[function].text;
        prefetched.insert(text.substr(4, text.find('(') - 4));
      }
    }
  }
  return found;
}

int64_t serial_map_in(const PythonSource& source) {
  const auto& calls = source.calls();
  const bool uses_it = std::any_of(calls.begin(), calls.end(), [](const SourceCall& call) {
    return has(call.name, "data.Dataset") || has(call.name, "Dataset.from_") ||
           is_one_of(call.last_name(), {"TFRecordDataset", "image_dataset_from_directory"});
  });
  if (!uses_it) return 0;
  for (const SourceCall& call : calls) {
    if (call.last_name() != "map" || call.name == "map") continue;
    // Other libraries also have map(), for vectors of numbers: with names or dicts as arguments.
    if (call.at(0).empty() || call.at(0).starts_with("{")) continue;
    if (call.given("num_parallel_calls").empty() && call.at(1).empty()) return call.line;
  }
  return 0;
}

}  // namespace headway
