#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "headway/data/node.h"
#include "headway/data/runtime.h"
#include "headway/data/stage.h"

namespace headway {

// The description rewritten for running, with the same elements in the same order: operators that
// only choose indices (shuffle, take, skip, shard, repeat) move below maps over indexed sources, so
// that nothing is decoded that will not be used, and a shuffle needs no buffer.
NodePtr plan(const NodePtr& node);

// Map-like operators in a row on top of something else, fused: consecutive image steps become one
// pass over the pixels.
struct NodeChain {
  explicit NodeChain(const NodePtr& top);

  NodePtr base;
  std::vector<SampleOpPtr> ops;  // first to run first
  bool drops = false;
  bool ordered = true;
  std::optional<int> max_workers{};

  // One element of an indexed chain, all operators applied; false if one dropped it.
  bool at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const;
  std::string name() const;                                           // "read_file+decode_image"
  bool works() const { return !ops.empty() || base->reads_files(); }  // worth many threads
  bool limited() const { return max_workers.has_value(); }  // not by all workers at once
};

// Starts a node: fused and parallel where it can be, as an iterator for whoever is downstream.
std::unique_ptr<Iterator> start(Runtime& runtime, const NodePtr& node, int64_t epoch, int depth);

// The same, always with a queue of its own in front, so that work goes on while nobody asks.
std::unique_ptr<StageIterator> start_stage(Runtime& runtime, const NodePtr& node, int64_t epoch,
                                           int depth, std::optional<int64_t> capacity = {});

// A stage over a chain's base with the chain's operators and whatever `config` adds.
std::unique_ptr<StageIterator> start_chain(Runtime& runtime, const NodeChain& chain,
                                           StageConfig config, int64_t epoch, int depth);

}  // namespace headway
