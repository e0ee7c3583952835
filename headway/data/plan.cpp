#include "headway/data/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "headway/data/ops/image_op.h"

namespace headway {
namespace {

// Walks an indexed node by number, one element after the other: for cheap ones.
class IndexedIterator : public Iterator {
 public:
  IndexedIterator(Runtime& runtime, NodePtr node, int64_t epoch)
      : node_(std::move(node)), epoch_(epoch), total_(node_->cardinality()) {
    context_.seed = runtime.seed();
    context_.epoch = epoch;
    context_.ram = &runtime.ram;
  }

  Poll next(Element& out) override {
    if (total_ != kInfinite && next_ >= total_) return Poll::kEnd;
    out.clear();
    const int64_t i = next_++;  // counted first: a bad element is passed over
    context_.ordinal = i;
    node_->at(i, epoch_, context_, out);
    return Poll::kElement;
  }
  void save(Cursor& cursor) const override { cursor.put(next_); }
  void restore(CursorReader& cursor) override { next_ = cursor.take(); }

 private:
  NodePtr node_;
  SampleContext context_;
  int64_t epoch_;
  int64_t total_;
  int64_t next_ = 0;
};

// One map at a time, in order: for functions with a state of their own.
class SerialMapIterator : public Iterator {
 public:
  SerialMapIterator(std::unique_ptr<Iterator> input, SampleOpPtr op, uint64_t seed, int64_t epoch)
      : input_(std::move(input)), op_(std::move(op)) {
    context_.seed = seed;
    context_.epoch = epoch;
  }

  Poll next(Element& out) override {
    for (;;) {
      const Poll poll = input_->next(out);
      if (poll != Poll::kElement) return poll;
      ++context_.ordinal;
      try {
        if (op_->apply(out, context_)) return Poll::kElement;
      } catch (...) {
        std::rethrow_exception(located(op_->name(), out));
      }
    }
  }
  void save(Cursor& cursor) const override {
    cursor.put(context_.ordinal);
    input_->save(cursor);
  }
  void restore(CursorReader& cursor) override {
    context_.ordinal = cursor.take_any();
    input_->restore(cursor);
  }

 private:
  std::unique_ptr<Iterator> input_;
  SampleOpPtr op_;
  SampleContext context_{.ordinal = -1};
};

bool parallel_map(const Node& node) { return node.maps() && !node.serial(); }

bool runs_by_number(const Node& node) { return node.indexed() && !node.prefers_stream(); }

}  // namespace

NodePtr plan(const NodePtr& node) {
  std::vector<NodePtr> inputs;
  for (NodePtr input : node->inputs()) {
    // Work goes ahead of whoever is last anyway: a prefetch further up only hides the index.
    while (input->word() == "prefetch" && input->indexed()) input = input->input();
    inputs.push_back(plan(input));
  }
  NodePtr planned = inputs == node->inputs() ? node : node->with_inputs(std::move(inputs));
  if (!planned->only_indices() || !planned->indexed()) return planned;
  const NodePtr below = planned->input();
  if (!parallel_map(*below) || below->drops()) return planned;
  return below->with_inputs({plan(planned->with_inputs(below->inputs()))});
}

NodeChain::NodeChain(const NodePtr& top) : base(top) {
  while (parallel_map(*base)) {
    ops.push_back(base->sample_op());
    drops |= base->drops();
    ordered &= base->ordered();
    if (const auto calls = base->parallel_calls()) {
      max_workers = static_cast<int>(std::min<int64_t>(*calls, max_workers.value_or(INT_MAX)));
    }
    base = base->input();
  }
  std::reverse(ops.begin(), ops.end());
  ops = fuse_image_ops(std::move(ops));
}

bool NodeChain::at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const {
  SampleContext own{context.seed, epoch, i, nullptr, context.ram};
  base->at(i, epoch, own, out);
  for (const SampleOpPtr& op : ops) {
    try {
      if (!op->apply(out, own)) return false;
    } catch (...) {
      std::rethrow_exception(located(op->name(), out));
    }
  }
  return true;
}

std::string NodeChain::name() const {
  std::vector<std::string> names;
  for (const SampleOpPtr& op : ops) names.push_back(op->name());
  return fmt::format("{}", fmt::join(names, "+"));
}

std::unique_ptr<Iterator> start(Runtime& runtime, const NodePtr& node, int64_t epoch, int depth) {
  if (node->maps() && node->serial()) {
    return std::make_unique<SerialMapIterator>(start(runtime, node->input(), epoch, depth),
                                               node->sample_op(), runtime.seed(), epoch);
  }
  if (node->maps()) return start_stage(runtime, node, epoch, depth);
  if (!runs_by_number(*node)) return node->iterate(runtime, epoch, depth);
  if (node->reads_files()) return start_stage(runtime, node, epoch, depth);
  return std::make_unique<IndexedIterator>(runtime, node, epoch);
}

std::unique_ptr<StageIterator> start_stage(Runtime& runtime, const NodePtr& node, int64_t epoch,
                                           int depth, std::optional<int64_t> capacity) {
  if (!node->maps() && !runs_by_number(*node)) {
    if (node->is_stage()) {
      auto input = node->iterate(runtime, epoch, depth);
      auto* stage = static_cast<StageIterator*>(input.release());
      if (capacity) stage->stage().set_capacity(*capacity);
      return std::unique_ptr<StageIterator>(stage);
    }
    StageConfig config{.name = "prefetch", .may_drop = true, .capacity = capacity};
    auto stage = std::make_shared<Stage>(runtime, config, node->iterate(runtime, epoch, depth + 1),
                                         epoch, depth);
    return std::make_unique<StageIterator>(runtime, std::move(stage));
  }
  StageConfig config{.may_drop = true, .capacity = capacity};
  return start_chain(runtime, NodeChain(node), std::move(config), epoch, depth);
}

std::unique_ptr<StageIterator> start_chain(Runtime& runtime, const NodeChain& chain,
                                           StageConfig config, int64_t epoch, int depth) {
  config.ops = chain.ops;
  config.ordered = runtime.deterministic() && chain.ordered;
  config.max_workers = chain.max_workers;
  const std::string source = chain.base->inputs().empty() ? chain.base->word() : "";
  std::vector<std::string> parts;
  for (const std::string& part : {source, chain.name(), config.name}) {
    if (!part.empty()) parts.push_back(part);
  }
  config.name = parts.empty() ? chain.base->word() : fmt::format("{}", fmt::join(parts, "+"));
  std::shared_ptr<Stage> stage;
  if (runs_by_number(*chain.base)) {
    stage = std::make_shared<Stage>(runtime, std::move(config), chain.base, epoch, depth);
  } else {
    stage = std::make_shared<Stage>(runtime, std::move(config),
                                    start(runtime, chain.base, epoch, depth + 1), epoch, depth);
  }
  return std::make_unique<StageIterator>(runtime, std::move(stage));
}

}  // namespace headway
