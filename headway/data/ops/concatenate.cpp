#include <fmt/format.h>

#include <algorithm>

#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class ConcatenateIterator : public Iterator {
 public:
  ConcatenateIterator(Runtime& runtime, std::vector<NodePtr> inputs, int64_t epoch, int depth)
      : runtime_(runtime), nodes_(std::move(inputs)), epoch_(epoch), depth_(depth) {
    open();
  }
  Poll next(Element& out) override {
    for (; at_ < nodes_.size(); ++at_, open()) {
      const Poll poll = input_->next(out);
      if (poll != Poll::kEnd) return poll;
    }
    return Poll::kEnd;
  }
  void save(Cursor& cursor) const override {
    cursor.put(static_cast<int64_t>(at_));
    if (input_) input_->save(cursor);
  }
  void restore(CursorReader& cursor) override {
    at_ = cursor.take();
    open();
    if (input_) input_->restore(cursor);
  }

 private:
  void open() {
    input_.reset();
    if (at_ < nodes_.size()) input_ = start(runtime_, nodes_[at_], epoch_, depth_);
  }

  Runtime& runtime_;
  std::vector<NodePtr> nodes_;
  int64_t epoch_;
  int depth_;
  size_t at_ = 0;
  std::unique_ptr<Iterator> input_;
};

class ConcatenateNode : public Node {
 public:
  explicit ConcatenateNode(std::vector<NodePtr> inputs) : Node(std::move(inputs)) {
    for (const NodePtr& input : this->inputs()) chains_.emplace_back(input);
    traits_ = {.indexed = all_indexed(),
               .reads_files = std::ranges::any_of(chains_, &NodeChain::works)};
  }
  std::string describe() const override {
    return fmt::format("concatenate({} inputs)", inputs().size());
  }
  int64_t cardinality() const override {
    int64_t total = 0;
    for (const NodePtr& input : inputs()) {
      const int64_t n = input->cardinality();
      if (n < 0) return n;
      total += n;
    }
    return total;
  }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    for (size_t k = 0; k < chains_.size(); ++k) {
      const int64_t n = inputs()[k]->cardinality();
      if (i < n || n == kInfinite) {
        chains_[k].at(i, epoch, context, out);
        return;
      }
      i -= n;
    }
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<ConcatenateIterator>(runtime, inputs(), epoch, depth);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<ConcatenateNode>(std::move(inputs));
  }

 private:
  bool all_indexed() const {
    if (std::ranges::any_of(chains_, &NodeChain::limited)) return false;
    for (size_t i = 0; i < inputs().size(); ++i) {
      const bool last = i + 1 == inputs().size();
      if (!inputs()[i]->indexed() || (!last && inputs()[i]->cardinality() < 0)) return false;
    }
    return true;
  }

  std::vector<NodeChain> chains_;
};

}  // namespace

NodePtr make_concatenate(std::vector<NodePtr> inputs) {
  return std::make_shared<ConcatenateNode>(std::move(inputs));
}

}  // namespace headway
