#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class FnOp : public SampleOp {
 public:
  FnOp(OpFacts facts, SampleFn fn) : facts_(std::move(facts)), fn_(std::move(fn)) {}
  std::string name() const override { return facts_.name; }
  OpFacts facts() const override { return facts_; }
  bool apply(Element& element, const SampleContext& context) const override {
    return fn_(element, context);
  }

 private:
  OpFacts facts_;
  SampleFn fn_;
};

class MapNode : public Node {
 public:
  MapNode(NodePtr input, std::function<SampleFn(uint32_t)> fn, MapOptions options,
          MapTraits map_traits)
      : Node({std::move(input)}),
        fn_(std::move(fn)),
        options_(std::move(options)),
        map_traits_(map_traits) {
    const bool serial = options_.num_parallel_calls == 1;
    OpFacts facts{.name = options_.name,
                  .serial = serial,
                  .reads_files = map_traits_.reads_files && from_files(*this->input())};
    traits_ = {.indexed = !map_traits_.drops && !serial && this->input()->indexed(),
               .prefers_stream = this->input()->prefers_stream(),
               .drops = map_traits_.drops,
               .ordered = options_.ordered,
               .parallel_calls = options_.num_parallel_calls,
               .facts = facts};
    op_ = std::make_shared<FnOp>(std::move(facts), fn_(sample_ops_below(*this->input()) + 1));
  }

  std::string describe() const override {
    return serial() ? options_.name + "(serial)" : options_.name;
  }
  int64_t cardinality() const override { return drops() ? kUnknown : input()->cardinality(); }
  SampleOpPtr sample_op() const override { return op_; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<MapNode>(std::move(inputs[0]), fn_, options_, map_traits_);
  }

 private:
  std::function<SampleFn(uint32_t)> fn_;
  MapOptions options_;
  MapTraits map_traits_;
  SampleOpPtr op_;
};

}  // namespace

NodePtr make_map(NodePtr input, std::function<SampleFn(uint32_t)> fn, MapOptions options,
                 MapTraits traits) {
  if (const auto calls = options.num_parallel_calls; calls && *calls < 1) {
    throw Error(options.name + ": invalid num_parallel_calls " + std::to_string(*calls),
                "give 1 or more, or leave it out to have it chosen automatically");
  }
  return std::make_shared<MapNode>(std::move(input), std::move(fn), std::move(options), traits);
}

}  // namespace headway
