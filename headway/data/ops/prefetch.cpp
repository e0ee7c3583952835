#include <fmt/format.h>

#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class PrefetchNode : public Node {
 public:
  PrefetchNode(NodePtr input, std::optional<int64_t> buffer_size)
      : Node({std::move(input)}), buffer_size_(buffer_size) {
    traits_ = {.indexed = this->input()->indexed(),
               .reads_files = this->input()->reads_files(),
               .prefers_stream = true,
               .is_stage = true};
  }
  std::string describe() const override { return "prefetch"; }
  int64_t cardinality() const override { return input()->cardinality(); }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    input()->at(i, epoch, context, out);
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return start_stage(runtime, input(), epoch, depth, buffer_size_);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<PrefetchNode>(std::move(inputs[0]), buffer_size_);
  }

 private:
  std::optional<int64_t> buffer_size_;
};

}  // namespace

NodePtr make_prefetch(NodePtr input, std::optional<int64_t> buffer_size) {
  if (buffer_size && *buffer_size < 1) {
    throw Error(fmt::format("prefetch: invalid buffer size {}", *buffer_size),
                "give 1 or more, or leave it out to have it chosen automatically");
  }
  return std::make_shared<PrefetchNode>(std::move(input), buffer_size);
}

}  // namespace headway
