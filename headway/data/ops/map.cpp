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
  MapNode(NodePtr input, std::function<SampleFn(uint32_t)> fn, MapSettings settings)
      : Node({std::move(input)}), fn_(std::move(fn)), settings_(std::move(settings)) {
    OpFacts facts = traits();
    facts.name = settings_.word;
    op_ = std::make_shared<FnOp>(std::move(facts), fn_(sample_ops_below(*this->input()) + 1));
  }

  std::string describe() const override {
    return settings_.parallel_calls == 1 ? settings_.word + "(serial)" : settings_.word;
  }
  int64_t cardinality() const override { return drops() ? kUnknown : input()->cardinality(); }
  bool indexed() const override { return !drops() && parallel_calls() != 1 && input()->indexed(); }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    SampleContext own{context.seed, epoch, i, nullptr, context.ram};
    input()->at(i, epoch, own, out);
    op_->apply(out, own);
  }
  bool maps() const override { return true; }
  bool prefers_stream() const override { return input()->prefers_stream(); }
  SampleOpPtr sample_op() const override { return op_; }
  bool drops() const override { return settings_.drops; }
  int64_t parallel_calls() const override { return settings_.parallel_calls; }
  bool ordered() const override { return settings_.ordered; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<MapNode>(std::move(inputs[0]), fn_, settings_);
  }

 protected:
  OpFacts traits() const override {
    return {.serial = settings_.parallel_calls == 1,
            .reads_files = settings_.reads_files && from_files(*input())};
  }

 private:
  std::function<SampleFn(uint32_t)> fn_;
  MapSettings settings_;
  SampleOpPtr op_;
};

}  // namespace

NodePtr make_map(NodePtr input, std::function<SampleFn(uint32_t)> fn, MapSettings settings) {
  if (settings.parallel_calls != kAuto && settings.parallel_calls < 1) {
    throw Error(
        settings.word + ": num_parallel_calls is " + std::to_string(settings.parallel_calls),
        "leave it out to have it chosen, or give 1 or more");
  }
  return std::make_shared<MapNode>(std::move(input), std::move(fn), std::move(settings));
}

}  // namespace headway
