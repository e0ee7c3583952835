#include <fmt/format.h>

#include "headway/data/ops/iterators.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class ShardIterator : public CountingIterator {
 public:
  ShardIterator(std::unique_ptr<Iterator> input, int64_t shards, int64_t index)
      : CountingIterator(std::move(input), 0), shards_(shards), index_(index) {}
  Poll next(Element& out) override {
    for (;;) {
      const Poll poll = input_->next(out);
      if (poll != Poll::kElement) return poll;
      if (count_++ % shards_ == index_) return poll;
    }
  }

 private:
  int64_t shards_, index_;
};

class ShardNode : public Node {
 public:
  ShardNode(NodePtr input, int64_t shards, int64_t index)
      : Node({std::move(input)}), shards_(shards), index_(index) {
    traits_ = {.indexed = this->input()->indexed(),
               .only_indices = true,
               .prefers_stream = this->input()->prefers_stream()};
  }
  std::string describe() const override { return fmt::format("shard({} of {})", index_, shards_); }
  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    return n < 0 ? n : (n - index_ + shards_ - 1) / shards_;
  }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    input()->at(i * shards_ + index_, epoch, context, out);
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<ShardIterator>(start(runtime, input(), epoch, depth), shards_, index_);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<ShardNode>(std::move(inputs[0]), shards_, index_);
  }

 private:
  int64_t shards_, index_;
};

}  // namespace

NodePtr make_shard(NodePtr input, int64_t shards, int64_t index) {
  if (shards < 1 || index < 0 || index >= shards) {
    throw Error(fmt::format("shard: invalid index {} of {} shards", index, shards),
                shards > 0 ? fmt::format("give an index from 0 to {}", shards - 1)
                           : "give 1 or more shards");
  }
  return std::make_shared<ShardNode>(std::move(input), shards, index);
}

}  // namespace headway
