#include <fmt/format.h>

#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class BatchNode : public Node {
 public:
  BatchNode(NodePtr input, int64_t size, bool drop_remainder)
      : Node({std::move(input)}),
        size_(size),
        drop_remainder_(drop_remainder),
        chain_(this->input()) {
    traits_ = {.indexed = this->input()->indexed(), .prefers_stream = true, .is_stage = true};
  }

  std::string describe() const override {
    return fmt::format("batch({}{})", size_, drop_remainder_ ? ", drop_remainder" : "");
  }
  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (n < 0) return n;
    return drop_remainder_ ? n / size_ : (n + size_ - 1) / size_;
  }

  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    const int64_t n = input()->cardinality();
    const int64_t rows = n == kInfinite ? size_ : std::min(size_, n - i * size_);
    BatchBuilder builder(buffers_);
    builder.start(rows, i * size_);
    Element sample;
    for (int64_t row = 0; row < rows; ++row) {
      sample.clear();
      chain_.at(i * size_ + row, epoch, context, sample);
      builder.put(row, sample);
    }
    out = builder.finish(rows);
  }

  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    StageConfig config{.name = "batch", .batch_size = size_, .drop_remainder = drop_remainder_};
    if (!chain_.drops && !runtime.skips_errors()) {
      return start_chain(runtime, chain_, std::move(config), epoch, depth);
    }
    // Samples may go missing on the way, so rows are only known once they are out: a stage of its
    // own.
    auto stage = std::make_shared<Stage>(
        runtime, std::move(config), start_stage(runtime, input(), epoch, depth + 1), epoch, depth);
    return std::make_unique<StageIterator>(runtime, std::move(stage));
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<BatchNode>(std::move(inputs[0]), size_, drop_remainder_);
  }

 private:
  int64_t size_;
  bool drop_remainder_;
  NodeChain chain_;
  std::shared_ptr<BufferPool> buffers_ = BufferPool::create();
};

}  // namespace

NodePtr make_batch(NodePtr input, int64_t size, bool drop_remainder) {
  if (size < 1) {
    throw Error(fmt::format("batch: invalid batch size {}", size),
                "the batch size must be 1 or more");
  }
  return std::make_shared<BatchNode>(std::move(input), size, drop_remainder);
}

}  // namespace headway
