#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headway/data/iterator.h"
#include "headway/data/options.h"
#include "headway/data/sample_op.h"

namespace headway {

class Node;
class Run;
using NodePtr = std::shared_ptr<const Node>;

// One operator of a dataset's description: immutable, shared, cheap. A new operator is a subclass
// in a file of its own under ops/ or sources/.
//
// A node that knows its elements by number (a file list, a range, a map over one ...) is *indexed*:
// it has at(), needs no state, can be shuffled without a buffer and runs without a lock. Everything
// else is a stream.
class Node {
 public:
  explicit Node(std::vector<NodePtr> inputs = {}) : inputs_(std::move(inputs)) {}
  virtual ~Node() = default;

  // "batch(64)": the operator with every setting that changes what comes out.
  virtual std::string describe() const = 0;
  // "batch": describe() up to the bracket.
  std::string word() const { return describe().substr(0, describe().find('(')); }

  // What it is, for whoever judges a run.
  OpFacts facts() const;

  const std::vector<NodePtr>& inputs() const { return inputs_; }
  const NodePtr& input() const { return inputs_[0]; }

  // Number of elements, kInfinite or kUnknown.
  virtual int64_t cardinality() const = 0;

  virtual bool indexed() const { return false; }
  // Element `i` of iteration `epoch`. Thread-safe. REQUIRES: indexed(), 0 <= i < cardinality().
  virtual void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const;

  // A fresh iterator over iteration `epoch`. `depth` counts the stages between here and the
  // consumer. Indexed nodes need not provide one.
  virtual std::unique_ptr<Iterator> iterate(Run& run, int64_t epoch, int depth) const;

  // Map-like nodes: one element in, at most one out, each on its own.
  virtual bool maps() const { return false; }
  virtual SampleOpPtr sample_op() const { return nullptr; }
  virtual bool drops() const { return false; }  // may drop elements
  // How many at once; 1: one at a time, in order.
  virtual std::optional<int64_t> parallel_calls() const { return std::nullopt; }
  bool serial() const { return parallel_calls() == 1; }
  virtual bool ordered() const { return true; }

  // The same operator over other inputs; used by plan() to rewrite.
  virtual NodePtr with_inputs(std::vector<NodePtr> inputs) const = 0;

  // Operators that only choose and order indices (shuffle, take ...) and so may move below maps.
  virtual bool only_indices() const { return false; }

  // at() reads a file, so it is worth doing on many threads.
  virtual bool reads_files() const {
    return !inputs_.empty() && only_indices() && input()->reads_files();
  }

  // Better run as a stream although at() exists: a batch whose rows can be made in parallel.
  virtual bool prefers_stream() const { return false; }

  // iterate() gives a StageIterator: work goes on while nobody asks.
  virtual bool is_stage() const { return false; }

  // Bytes kept between iterations (a cache in memory): they count against the next one's budget.
  virtual int64_t held_bytes() const { return 0; }

  // How restoring a saved position works here when it is not a seek: "replays the records of the
  // epoch so far". Empty for a seek.
  virtual std::string replay() const { return ""; }

 protected:
  // What facts() adds to the description; its name and `source` are filled in.
  virtual OpFacts traits() const { return {}; }

 private:
  std::vector<NodePtr> inputs_;
};

// How many map-like operators lie below and including `node`: the number under which an operator
// draws its random numbers, unchanged when plan() reorders what is not map-like.
uint32_t sample_ops_below(const Node& node);

// Does something below read files, or name them?
bool from_files(const Node& node);

// Every operator of the whole chain, source first.
std::vector<OpFacts> facts_of_chain(const Node& node);

// The whole chain, one operator a line, source first; inputs of joins are indented.
std::string describe_chain(const Node& node);

}  // namespace headway
