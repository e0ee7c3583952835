#include <fmt/format.h>

#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

constexpr uint64_t kManyEpochs = uint64_t{1} << 62;

class RepeatIterator : public Iterator {
 public:
  RepeatIterator(Runtime& runtime, NodePtr input, std::optional<int64_t> count, int64_t epoch,
                 int depth)
      : runtime_(runtime), node_(std::move(input)), count_(count), epoch_(epoch), depth_(depth) {
    open();
  }

  Poll next(Element& out) override {
    while (!count_ || round_ < *count_) {
      const Poll poll = input_->next(out);
      if (poll != Poll::kEnd) {
        any_ |= poll == Poll::kElement;
        return poll;
      }
      if (!any_) {
        throw Error(
            "repeat: the dataset before .repeat() gives no elements, so it cannot be "
            "repeated",
            "check whether its list of files or tensors is empty, or a .filter() drops "
            "everything");
      }
      ++round_;
      any_ = false;
      if (!count_ || round_ < *count_) open();
    }
    return Poll::kEnd;
  }
  void save(Cursor& cursor) const override {
    cursor.put(round_);
    cursor.put(any_);
    input_->save(cursor);
  }
  void restore(CursorReader& cursor) override {
    round_ = cursor.take();
    any_ = cursor.take();
    open();
    input_->restore(cursor);
  }

 private:
  void open() {
    input_.reset();  // the old one's stages end before the new one's begin
    input_ = start(runtime_, node_, epoch_ + round_, depth_);
  }

  Runtime& runtime_;
  NodePtr node_;
  std::optional<int64_t> count_;  // default: for ever
  int64_t epoch_;
  int depth_;
  int64_t round_ = 0;
  bool any_ = false;
  std::unique_ptr<Iterator> input_;
};

class RepeatNode : public Node {
 public:
  RepeatNode(NodePtr input, std::optional<int64_t> count)
      : Node({std::move(input)}), count_(count) {
    traits_ = {.indexed = this->input()->indexed() && this->input()->cardinality() != 0,
               .only_indices = true,
               .prefers_stream = this->input()->prefers_stream()};
  }

  std::string describe() const override {
    return count_ ? fmt::format("repeat({})", *count_) : "repeat";
  }
  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (count_ == 0 || n == 0) return 0;
    if (n < 0) return n;
    return !count_ || *count_ > INT64_MAX / n ? kInfinite : n * *count_;
  }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    const int64_t n = input()->cardinality();
    if (n == kInfinite) return input()->at(i, epoch, context, out);
    input()->at(i % n, first_epoch(epoch) + i / n, context, out);
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<RepeatIterator>(runtime, input(), count_, first_epoch(epoch), depth);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<RepeatNode>(std::move(inputs[0]), count_);
  }

 private:
  // Rounds of one iteration are numbered apart from those of the next.
  int64_t first_epoch(int64_t epoch) const {
    if (!count_) return epoch;
    const uint64_t first = static_cast<uint64_t>(epoch) * static_cast<uint64_t>(*count_);
    return static_cast<int64_t>(first % kManyEpochs);  // room to count on from there
  }

  std::optional<int64_t> count_;  // default: for ever
};

}  // namespace

NodePtr make_repeat(NodePtr input, std::optional<int64_t> count) {
  if (count < 0) count = std::nullopt;  // tf.data's -1
  return std::make_shared<RepeatNode>(std::move(input), count);
}

}  // namespace headway
