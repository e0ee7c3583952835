#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headway/data/node.h"
#include "headway/data/options.h"

// One factory per operator; each lives in ops/<word>.cpp. Users call them through Dataset.
namespace headway {

using SampleFn = std::function<bool(Element& element, const SampleContext& context)>;
using ExpandFn = std::function<NodePtr(const Element& element)>;

struct MapSettings {
  std::string word = "map";
  int64_t parallel_calls = kAuto;
  bool ordered = true;
  bool drops = false;
  bool reads_files = false;  // or bytes that came from one and may still lie in it
};
// `fn` gets the number under which it draws random numbers through SampleContext::random.
NodePtr make_map(NodePtr input, std::function<SampleFn(uint32_t op)> fn, MapSettings settings);

NodePtr make_batch(NodePtr input, int64_t size, bool drop_remainder);
struct PaddedBatchSettings {
  int64_t size = 0;
  bool drop_remainder = false;
  double padding_value = 0;
  std::string padding_string;
  std::vector<std::pair<std::string, std::vector<int64_t>>> padded_shapes;  // -1: the longest
};
NodePtr make_padded_batch(NodePtr input, PaddedBatchSettings settings);
NodePtr make_unbatch(NodePtr input);

struct ShuffleSettings {
  int64_t buffer = kAuto;        // for streams; indexed inputs are permuted as a whole
  int64_t minimum_fill = kAuto;  // streams start to yield at this many
  uint64_t seed = 0;
  bool reshuffle_each_iteration = true;
};
NodePtr make_shuffle(NodePtr input, ShuffleSettings settings);
NodePtr make_repeat(NodePtr input, int64_t count);
NodePtr make_take(NodePtr input, int64_t count);
NodePtr make_skip(NodePtr input, int64_t count);
NodePtr make_shard(NodePtr input, int64_t shards, int64_t index);
NodePtr make_enumerate(NodePtr input, int64_t first, std::string field);
NodePtr make_cache(NodePtr input, std::string file);
NodePtr make_prefetch(NodePtr input, int64_t count);
NodePtr make_zip(std::vector<NodePtr> inputs);
NodePtr make_concatenate(std::vector<NodePtr> inputs);

struct InterleaveSettings {
  std::string word = "interleave";
  int64_t cycle = 1;
  int64_t block = 1;
  bool parallel = false;
  bool reads_files = false;  // what it expands to does
};
NodePtr make_interleave(NodePtr input, ExpandFn expand, InterleaveSettings settings);

}  // namespace headway
