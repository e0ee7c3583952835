#include <fmt/format.h>

#include <algorithm>

#include "headway/data/ops/iterators.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class TakeIterator : public CountingIterator {
 public:
  TakeIterator(std::unique_ptr<Iterator> input, int64_t count)
      : CountingIterator(std::move(input), count) {}
  Poll next(Element& out) override {
    if (count_ == 0) return Poll::kEnd;
    const Poll poll = input_->next(out);
    count_ -= poll == Poll::kElement;
    return poll;
  }
};

class SkipIterator : public CountingIterator {
 public:
  SkipIterator(std::unique_ptr<Iterator> input, int64_t count)
      : CountingIterator(std::move(input), count) {}
  Poll next(Element& out) override {
    for (; count_ > 0; --count_) {
      const Poll poll = input_->next(out);
      if (poll != Poll::kElement) return poll;
    }
    return input_->next(out);
  }
};

class TakeNode : public Node {
 public:
  TakeNode(NodePtr input, int64_t count) : Node({std::move(input)}), count_(count) {
    traits_ = {.indexed = this->input()->indexed(),
               .only_indices = true,
               .prefers_stream = this->input()->prefers_stream()};
  }
  std::string describe() const override { return fmt::format("take({})", count_); }
  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    return n == kInfinite ? count_ : n == kUnknown ? kUnknown : std::min(n, count_);
  }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    input()->at(i, epoch, context, out);
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<TakeIterator>(start(runtime, input(), epoch, depth), count_);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<TakeNode>(std::move(inputs[0]), count_);
  }

 private:
  int64_t count_;
};

class SkipNode : public Node {
 public:
  SkipNode(NodePtr input, int64_t count) : Node({std::move(input)}), count_(count) {
    traits_ = {.indexed = this->input()->indexed(),
               .only_indices = true,
               .prefers_stream = this->input()->prefers_stream()};
  }
  std::string describe() const override { return fmt::format("skip({})", count_); }
  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    return n < 0 ? n : std::max<int64_t>(0, n - count_);
  }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    input()->at(i + count_, epoch, context, out);
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<SkipIterator>(start(runtime, input(), epoch, depth), count_);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<SkipNode>(std::move(inputs[0]), count_);
  }

 private:
  int64_t count_;
};

}  // namespace

// As in tf.data a negative count means all.
NodePtr make_take(NodePtr input, int64_t count) {
  return count < 0 ? input : std::make_shared<TakeNode>(std::move(input), count);
}

NodePtr make_skip(NodePtr input, int64_t count) {
  if (count < 0) return make_take(std::move(input), 0);
  return std::make_shared<SkipNode>(std::move(input), count);
}

}  // namespace headway
