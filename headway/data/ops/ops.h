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

// What a map-like operator does to elements.
struct MapTraits {
  bool drops = false;        // may drop elements
  bool reads_files = false;  // or bytes that came from one and may still lie in it
};
// `fn` gets the number under which it draws random numbers through SampleContext::random.
// REQUIRES: options.name is set.
NodePtr make_map(NodePtr input, std::function<SampleFn(uint32_t op)> fn, MapOptions options,
                 MapTraits traits = {});

NodePtr make_batch(NodePtr input, int64_t size, bool drop_remainder);
NodePtr make_padded_batch(NodePtr input, int64_t size, PaddedBatchOptions options);
NodePtr make_unbatch(NodePtr input);
NodePtr make_shuffle(NodePtr input, ShuffleOptions options);
NodePtr make_repeat(NodePtr input, std::optional<int64_t> count);
NodePtr make_take(NodePtr input, int64_t count);
NodePtr make_skip(NodePtr input, int64_t count);
NodePtr make_shard(NodePtr input, int64_t shards, int64_t index);
NodePtr make_enumerate(NodePtr input, int64_t first, std::string field);
NodePtr make_cache(NodePtr input, std::string file);
NodePtr make_prefetch(NodePtr input, std::optional<int64_t> buffer_size);
NodePtr make_zip(std::vector<NodePtr> inputs);
NodePtr make_concatenate(std::vector<NodePtr> inputs);

// `name`: the operator's. `reads_files`: what it expands to does.
NodePtr make_interleave(NodePtr input, ExpandFn expand, InterleaveOptions options,
                        std::string name = "interleave", bool reads_files = false);

}  // namespace headway
