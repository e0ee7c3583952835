#include <fmt/format.h>

#include <algorithm>

#include "headway/data/ops/iterators.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

// Appends the fields of `from`; a name that is taken gets the input's number behind it.
void join_fields(Element& to, Element from, size_t input) {
  for (Field& f : from.fields()) {
    const bool taken = to.find(f.name) != nullptr;
    to.append(taken ? Name(fmt::format("{}_{}", f.name.str(), input)) : f.name, std::move(f.value));
  }
  if (input == 0 || !to.origin_file()) to.copy_origin(from);
}

class ZipIterator : public GatheringIterator {
 public:
  explicit ZipIterator(std::vector<std::unique_ptr<Iterator>> inputs) : inputs_(std::move(inputs)) {
    settle();
  }
  Poll next(Element& out) override {
    while (held_.size() < inputs_.size()) {
      Element element;
      const Poll poll = inputs_[held_.size()]->next(element);
      if (poll != Poll::kElement) return poll;
      held_.push_back(std::move(element));
    }
    out.clear();
    for (size_t i = 0; i < held_.size(); ++i) join_fields(out, std::move(held_[i]), i);
    held_.clear();
    settle();
    return Poll::kElement;
  }

 protected:
  void save_inputs(Cursor& cursor) const override {
    for (const auto& input : inputs_) input->save(cursor);
  }
  void restore_inputs(CursorReader& cursor) override {
    for (const auto& input : inputs_) input->restore(cursor);
  }

 private:
  std::vector<std::unique_ptr<Iterator>> inputs_;
  std::vector<Element> held_;
};

class ZipNode : public Node {
 public:
  explicit ZipNode(std::vector<NodePtr> inputs) : Node(std::move(inputs)) {
    for (const NodePtr& input : this->inputs()) chains_.emplace_back(input);
    traits_ = {.indexed = std::ranges::none_of(chains_, &NodeChain::limited) &&
                          std::ranges::all_of(this->inputs(),
                                              [](const NodePtr& n) { return n->indexed(); }),
               .reads_files = std::ranges::any_of(chains_, &NodeChain::works)};
  }
  std::string describe() const override { return fmt::format("zip({} inputs)", inputs().size()); }
  int64_t cardinality() const override {
    int64_t least = kInfinite;
    for (const NodePtr& input : inputs()) {
      const int64_t n = input->cardinality();
      if (n == kUnknown) return kUnknown;
      if (n != kInfinite && (least == kInfinite || n < least)) least = n;
    }
    return least;
  }
  void at(int64_t i, int64_t epoch, const SampleContext& context, Element& out) const override {
    for (size_t k = 0; k < chains_.size(); ++k) {
      Element element;
      chains_[k].at(i, epoch, context, element);
      join_fields(out, std::move(element), k);
    }
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    if (runtime.skips_errors() && inputs().size() > 1) {
      throw Error(
          "zip: datasets that skip bad samples cannot be zipped, because their elements would no "
          "longer belong together",
          "zip datasets that can be read by number (files, tensors, uncompressed TFRecord files), "
          "or set .errors = ErrorPolicy::stop() in with_options");
    }
    std::vector<std::unique_ptr<Iterator>> iterators;
    for (const NodePtr& input : inputs()) iterators.push_back(start(runtime, input, epoch, depth));
    return std::make_unique<ZipIterator>(std::move(iterators));
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<ZipNode>(std::move(inputs));
  }

 private:
  std::vector<NodeChain> chains_;
};

}  // namespace

NodePtr make_zip(std::vector<NodePtr> inputs) {
  if (inputs.empty())
    throw Error("zip: the list of datasets is empty", "give at least one dataset");
  return std::make_shared<ZipNode>(std::move(inputs));
}

}  // namespace headway
