#include "headway/core/resource_error.h"
#include "headway/data/ops/iterators.h"
#include "headway/data/sources/sources.h"

namespace headway {
namespace {

class GeneratorIterator : public ReplayIterator {
 public:
  explicit GeneratorIterator(Generator generate) : generate_(std::move(generate)) {}

 protected:
  Poll produce(Element& out) override {
    std::optional<Element> element = generate();
    if (!element) return Poll::kEnd;
    out = std::move(*element);
    return Poll::kElement;
  }

 private:
  std::optional<Element> generate() {
    try {
      return generate_();
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw out_of_memory().within("generator");
    } catch (const std::exception& e) {
      throw Error(std::string("generator: ") + e.what());
    }
  }
  Generator generate_;
};

class GeneratorNode : public Node {
 public:
  explicit GeneratorNode(std::function<Generator()> make) : make_(std::move(make)) {
    traits_ = {.facts = {.serial = true}};
  }
  std::string describe() const override { return "generator"; }
  int64_t cardinality() const override { return kUnknown; }
  std::string replay() const override {
    return "calls the generator again for the elements so far";
  }
  std::unique_ptr<Iterator> iterate(Runtime&, int64_t, int) const override {
    return std::make_unique<GeneratorIterator>(make_());
  }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<GeneratorNode>(make_);
  }

 private:
  std::function<Generator()> make_;
};

}  // namespace

NodePtr make_generator(std::function<Generator()> make) {
  return std::make_shared<GeneratorNode>(std::move(make));
}

}  // namespace headway
