#include <fmt/format.h>

#include "headway/data/sources/sources.h"

namespace headway {
namespace {

class RangeNode : public Node {
 public:
  RangeNode(int64_t start, int64_t stop, int64_t step) : start_(start), stop_(stop), step_(step) {
    traits_ = {.indexed = true};
  }
  std::string describe() const override {
    return fmt::format("range({}, {}, {})", start_, stop_, step_);
  }
  int64_t cardinality() const override {
    const int64_t span = step_ > 0 ? stop_ - start_ : start_ - stop_;
    const int64_t step = step_ > 0 ? step_ : -step_;
    return span <= 0 ? 0 : (span + step - 1) / step;
  }
  void at(int64_t i, int64_t, const SampleContext&, Element& out) const override {
    out.append(Element::value_name(), Tensor::scalar<int64_t>(start_ + i * step_));
  }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<RangeNode>(start_, stop_, step_);
  }

 private:
  int64_t start_, stop_, step_;
};

}  // namespace

NodePtr make_range(int64_t start, int64_t stop, int64_t step) {
  if (step == 0)
    throw Error("range: with a step of 0 it never ends", "give another step, such as 1 or -1");
  return std::make_shared<RangeNode>(start, stop, step);
}

}  // namespace headway
