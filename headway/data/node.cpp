#include "headway/data/node.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

void describe_into(const Node& node, int indent, std::string& text) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    describe_into(*node.inputs()[i], indent + (node.inputs().size() > 1 ? 2 : 0), text);
  }
  text += std::string(indent, ' ') + node.describe() + "\n";
}

}  // namespace

void Node::at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const {
  const SampleOpPtr op = sample_op();
  if (!op)
    throw Error("elements of " + describe() + " cannot be read by their number",
                "read the elements in order, or add .cache() to the dataset first");
  SampleContext own{context.seed, epoch, i, nullptr, context.ram};
  input()->at(i, epoch, own, out);
  op->apply(out, own);
}

std::unique_ptr<Iterator> Node::iterate(Runtime&, int64_t, int) const {
  throw Error("internal error: " + describe() + " can only be read by index, not in order",
              "please report this as a bug of Headway");  // runs_by_number() says so
}

OpFacts Node::facts() const {
  OpFacts facts = traits_.facts;
  facts.name = describe();
  facts.source = inputs_.empty();
  return facts;
}

bool from_files(const Node& node) {
  const OpFacts facts = node.facts();
  if (facts.lists_files || facts.reads_files) return true;
  return std::any_of(node.inputs().begin(), node.inputs().end(),
                     [](const NodePtr& input) { return from_files(*input); });
}

std::vector<OpFacts> facts_of_chain(const Node& node) {
  std::vector<OpFacts> all;
  for (const NodePtr& input : node.inputs()) {
    for (OpFacts& facts : facts_of_chain(*input)) all.push_back(std::move(facts));
  }
  all.push_back(node.facts());
  return all;
}

uint32_t sample_ops_below(const Node& node) {
  uint32_t most = 0;
  for (const NodePtr& input : node.inputs()) most = std::max(most, sample_ops_below(*input));
  return most + (node.maps() ? 1 : 0);
}

std::string describe_chain(const Node& node) {
  std::string text;
  describe_into(node, 0, text);
  return text;
}

}  // namespace headway
