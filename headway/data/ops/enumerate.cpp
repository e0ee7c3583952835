#include <fmt/format.h>

#include "headway/data/ops/ops.h"
#include "headway/data/ops/unary_iterator.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class EnumerateIterator : public UnaryIterator {
 public:
  EnumerateIterator(std::unique_ptr<Iterator> input, int64_t first, Name field)
      : UnaryIterator(std::move(input)), next_(first), field_(field) {}
  Poll next(Element& out) override {
    const Poll poll = input_->next(out);
    if (poll == Poll::kElement) out.set(field_, Tensor::scalar<int64_t>(next_++));
    return poll;
  }
  void save(Cursor& cursor) const override {
    cursor.put(next_);
    input_->save(cursor);
  }
  void restore(CursorReader& cursor) override {
    next_ = cursor.take();
    input_->restore(cursor);
  }

 private:
  int64_t next_;
  Name field_;
};

class EnumerateNode : public Node {
 public:
  EnumerateNode(NodePtr input, int64_t first, std::string field)
      : Node({std::move(input)}), first_(first), field_(field), chain_(this->input()) {}
  std::string describe() const override {
    return fmt::format("enumerate(from {} as '{}')", first_, field_.str());
  }
  int64_t cardinality() const override { return input()->cardinality(); }
  bool indexed() const override { return input()->indexed() && chain_.max_workers == 0; }
  bool reads_files() const override { return !chain_.ops.empty() || input()->reads_files(); }
  bool prefers_stream() const override { return input()->prefers_stream(); }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    chain_.at(i, epoch, context, out);
    out.set(field_, Tensor::scalar<int64_t>(first_ + i));
  }
  std::unique_ptr<Iterator> iterate(Run& run, int64_t epoch, int depth) const override {
    return std::make_unique<EnumerateIterator>(start(run, input(), epoch, depth), first_, field_);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<EnumerateNode>(std::move(inputs[0]), first_, field_.str());
  }

 private:
  int64_t first_;
  Name field_;
  Chain chain_;
};

}  // namespace

NodePtr make_enumerate(NodePtr input, int64_t first, std::string field) {
  return std::make_shared<EnumerateNode>(std::move(input), first, std::move(field));
}

}  // namespace headway
