#include <fmt/format.h>

#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

// Opens `cycle` inner datasets at a time and takes `block` elements from each in turn. In parallel,
// each open one has a queue of its own that is filled while the others are read; the order is the
// same. flat_map is a cycle of one.
class InterleaveIterator : public Iterator {
 public:
  InterleaveIterator(Runtime& runtime, NodePtr outer, ExpandFn expand, InterleaveOptions options,
                     std::string name, int64_t epoch, int depth)
      : runtime_(runtime),
        outer_node_(std::move(outer)),
        expand_(std::move(expand)),
        options_(options),
        name_(std::move(name)),
        epoch_(epoch),
        depth_(depth),
        outer_(open_outer()),
        lanes_(options_.cycle_length) {}

  Poll next(Element& out) override {
    for (;;) {
      if (reopening_ && !reopen()) return Poll::kPending;
      if (options_.parallel && !open_all()) return Poll::kPending;
      Lane& lane = lanes_[at_];
      if (!lane.inner) {
        const Poll poll = open(lane);
        if (poll == Poll::kPending) return poll;
        if (poll == Poll::kEnd) {
          if (!any_open()) return Poll::kEnd;
          advance();
          continue;
        }
      }
      const Poll poll = lane.inner->next(out);
      if (poll == Poll::kPending) return poll;
      if (poll == Poll::kElement) {
        if (++taken_ == options_.block_length) advance();
        return poll;
      }
      lane.inner.reset();  // as in tf.data, a spent lane's turn passes to the next
      advance();
    }
  }

  // A lane's position: the outer position before the element it was opened from, and its own.
  void save(Cursor& cursor) const override {
    cursor.put(static_cast<int64_t>(at_));
    cursor.put(taken_);
    cursor.put(outer_ended_);
    cursor.put(opened_);
    for (const Lane& lane : lanes_) {
      const bool open = lane.inner || lane.seeker;
      cursor.put(open);
      if (!open) continue;
      cursor.put(lane.number);
      cursor.put(lane.outer_before);
      Cursor inner = lane.inner_position;
      if (lane.inner) inner.clear(), lane.inner->save(inner);
      cursor.put(inner);
    }
    Cursor outer;
    outer_->save(outer);
    cursor.put(outer);
  }

  void restore(CursorReader& cursor) override {
    at_ = cursor.take_below(static_cast<int64_t>(lanes_.size()));
    taken_ = cursor.take();
    outer_ended_ = cursor.take();
    opened_ = cursor.take();
    for (Lane& lane : lanes_) {
      if (!cursor.take()) continue;
      lane.number = cursor.take();
      lane.outer_before = cursor.take_cursor();
      lane.inner_position = cursor.take_cursor();
      lane.seeker = open_outer();
      CursorReader before(lane.outer_before);
      lane.seeker->restore(before);
      reopening_ = true;
    }
    const Cursor position = cursor.take_cursor();
    CursorReader outer(position);
    outer_->restore(outer);
  }

 private:
  struct Lane {
    std::unique_ptr<Iterator> inner;
    int64_t number = 0;  // how many were opened before it
    Cursor outer_before;
    std::unique_ptr<Iterator> seeker;  // after a restore: finds the element the lane stood in
    Cursor inner_position;             // ... and where in it
  };

  std::unique_ptr<Iterator> open_outer() {
    return start(runtime_, outer_node_, epoch_, depth_ + 1);
  }

  // False while an upstream stage has still to deliver.
  bool reopen() {
    for (Lane& lane : lanes_) {
      if (!lane.seeker) continue;
      Element element;
      const Poll poll = lane.seeker->next(element);
      if (poll == Poll::kPending) return false;
      if (poll == Poll::kEnd) {
        throw Error(name_ + ": the element at the saved position no longer exists",
                    "continue with the same files as when the position was saved, or start from "
                    "the beginning");
      }
      lane.inner = start_inner(lane, element);
      CursorReader inner(lane.inner_position);
      lane.inner->restore(inner);
      lane.seeker.reset();
    }
    reopening_ = false;
    return true;
  }

  // Opens every free lane from here on, so that all of them fill while the first is read.
  bool open_all() {
    for (size_t i = 0; i < lanes_.size() && !outer_ended_; ++i) {
      Lane& lane = lanes_[(at_ + i) % lanes_.size()];
      if (!lane.inner && open(lane) == Poll::kPending) return false;
    }
    return true;
  }

  Poll open(Lane& lane) {
    if (outer_ended_) return Poll::kEnd;
    lane.outer_before.clear();
    outer_->save(lane.outer_before);
    Element element;
    const Poll poll = outer_->next(element);
    outer_ended_ = poll == Poll::kEnd;
    if (poll != Poll::kElement) return poll;
    lane.number = opened_++;
    lane.inner = start_inner(lane, element);
    return poll;
  }

  // Each inner dataset is an iteration of its own, or all of them would draw the same numbers.
  std::unique_ptr<Iterator> start_inner(const Lane& lane, const Element& element) {
    const NodePtr inner = plan(expand_(element));
    const auto epoch = static_cast<int64_t>(mix(epoch_, lane.number) >> 2);
    if (!options_.parallel) return start(runtime_, inner, epoch, depth_ + 1);
    auto stage = start_stage(runtime_, inner, epoch, depth_ + 1);
    if (!reopening_) stage->stage().start();
    return stage;
  }

  bool any_open() const {
    for (const Lane& lane : lanes_) {
      if (lane.inner) return true;
    }
    return false;
  }
  void advance() {
    at_ = (at_ + 1) % lanes_.size();
    taken_ = 0;
  }

  Runtime& runtime_;
  NodePtr outer_node_;
  ExpandFn expand_;
  InterleaveOptions options_;
  std::string name_;
  int64_t epoch_;
  int depth_;
  std::unique_ptr<Iterator> outer_;
  std::vector<Lane> lanes_;
  size_t at_ = 0;
  int64_t taken_ = 0;
  int64_t opened_ = 0;
  bool outer_ended_ = false;
  bool reopening_ = false;
};

class InterleaveNode : public Node {
 public:
  InterleaveNode(NodePtr input, ExpandFn expand, InterleaveOptions options, std::string name,
                 bool reads_files)
      : Node({std::move(input)}),
        expand_(std::move(expand)),
        options_(options),
        name_(std::move(name)) {
    traits_ = {.facts = {.reads_files = reads_files}};
  }

  std::string describe() const override {
    if (options_.cycle_length == 1) return name_;
    return fmt::format("{}(cycle {}, block {}{})", name_, options_.cycle_length,
                       options_.block_length, options_.parallel ? ", parallel" : "");
  }
  int64_t cardinality() const override { return input()->cardinality() == 0 ? 0 : kUnknown; }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<InterleaveIterator>(runtime, input(), expand_, options_, name_, epoch,
                                                depth);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<InterleaveNode>(std::move(inputs[0]), expand_, options_, name_,
                                            traits_.facts.reads_files);
  }

 private:
  ExpandFn expand_;
  InterleaveOptions options_;
  std::string name_;
};

}  // namespace

NodePtr make_interleave(NodePtr input, ExpandFn expand, InterleaveOptions options, std::string name,
                        bool reads_files) {
  if (options.cycle_length < 1 || options.block_length < 1) {
    throw Error(fmt::format("{}: cycle_length is {} and block_length is {}, but both must be 1 or "
                            "more",
                            name, options.cycle_length, options.block_length),
                "give 1 or more for both, or leave them out (4 and 1)");
  }
  return std::make_shared<InterleaveNode>(std::move(input), std::move(expand), options,
                                          std::move(name), reads_files);
}

}  // namespace headway
