#include <fmt/format.h>

#include "headway/data/ops/iterators.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class EnumerateIterator : public CountingIterator {
 public:
  EnumerateIterator(std::unique_ptr<Iterator> input, int64_t first, Name field)
      : CountingIterator(std::move(input), first), field_(field) {}
  Poll next(Element& out) override {
    const Poll poll = input_->next(out);
    if (poll == Poll::kElement) out.set(field_, Tensor::scalar<int64_t>(count_++));
    return poll;
  }

 private:
  Name field_;
};

class EnumerateNode : public Node {
 public:
  EnumerateNode(NodePtr input, int64_t first, std::string field)
      : Node({std::move(input)}), first_(first), field_(field), chain_(this->input()) {
    traits_ = {.indexed = this->input()->indexed() && !chain_.limited(),
               .reads_files = chain_.works(),
               .prefers_stream = this->input()->prefers_stream()};
  }
  std::string describe() const override {
    return fmt::format("enumerate(from {} as '{}')", first_, field_.str());
  }
  int64_t cardinality() const override { return input()->cardinality(); }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    chain_.at(i, epoch, context, out);
    out.set(field_, Tensor::scalar<int64_t>(first_ + i));
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<EnumerateIterator>(start(runtime, input(), epoch, depth), first_,
                                               field_);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<EnumerateNode>(std::move(inputs[0]), first_, field_.str());
  }

 private:
  int64_t first_;
  Name field_;
  NodeChain chain_;
};

}  // namespace

NodePtr make_enumerate(NodePtr input, int64_t first, std::string field) {
  return std::make_shared<EnumerateNode>(std::move(input), first, std::move(field));
}

}  // namespace headway
