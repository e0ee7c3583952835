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
class Runtime;
using NodePtr = std::shared_ptr<const Node>;

// What an operator is, for plan(). Set once, by its constructor.
struct NodeTraits {
  bool indexed = false;       // it knows its elements by number: it has at()
  bool only_indices = false;  // it only chooses and orders indices, so it may move below maps
  bool reads_files = false;   // at() reads a file, so it is worth doing on many threads
  bool prefers_stream =
      false;  // better run as a stream although at() exists: a batch's rows are made in parallel
  bool is_stage = false;  // iterate() gives a StageIterator: work goes on while nobody asks
  // Of map-like operators:
  bool drops = false;                       // may drop elements
  bool ordered = true;                      // false: elements come out as they are ready
  std::optional<int64_t> parallel_calls{};  // 1: one at a time, in order
  OpFacts facts{};  // for whoever judges a run; name and source are filled in
};

// One operator of a dataset's description: immutable, shared, cheap. A new operator is a subclass
// in a file of its own under ops/ or sources/: it says in traits_ what it is, and how it runs in
// at() (by number), iterate() (a stream) or sample_op() (map-like).
//
// A node that knows its elements by number (a file list, a range, a map over one ...) is *indexed*:
// it needs no state, can be shuffled without a buffer and runs without a lock. Everything else is a
// stream.
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

  bool indexed() const { return traits_.indexed; }
  bool only_indices() const { return traits_.only_indices; }
  bool reads_files() const {
    return traits_.reads_files || (only_indices() && input()->reads_files());
  }
  bool prefers_stream() const { return traits_.prefers_stream; }
  bool is_stage() const { return traits_.is_stage; }
  bool maps() const { return sample_op() != nullptr; }
  bool drops() const { return traits_.drops; }
  bool ordered() const { return traits_.ordered; }
  std::optional<int64_t> parallel_calls() const { return traits_.parallel_calls; }
  bool serial() const { return parallel_calls() == 1; }

  // Number of elements, kInfinite or kUnknown.
  virtual int64_t cardinality() const = 0;

  // Element `i` of iteration `epoch`. Thread-safe. REQUIRES: indexed(), 0 <= i < cardinality().
  virtual void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const;

  // A fresh iterator over iteration `epoch`. `depth` counts the stages between here and the
  // consumer. Indexed nodes need not provide one.
  virtual std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const;

  // Map-like nodes: one element in, at most one out, each on its own. Null for the others.
  virtual SampleOpPtr sample_op() const { return nullptr; }

  // The same operator over other inputs; used by plan() to rewrite.
  virtual NodePtr with_inputs(std::vector<NodePtr> inputs) const = 0;

  // Bytes kept between iterations (a cache in memory): they count against the next one's budget.
  virtual int64_t held_bytes() const { return 0; }

  // How restoring a saved position works here when it is not a seek: "replays the records of the
  // epoch so far". Empty for a seek.
  virtual std::string replay() const { return ""; }

 protected:
  NodeTraits traits_;

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
