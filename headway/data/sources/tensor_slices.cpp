#include <fmt/format.h>

#include "headway/data/sources/sources.h"

namespace headway {
namespace {

class TensorSlicesNode : public Node {
 public:
  explicit TensorSlicesNode(std::vector<Field> fields) : fields_(std::move(fields)) {
    traits_ = {.indexed = true};
  }
  std::string describe() const override {
    std::vector<std::string> parts;
    for (const Field& f : fields_) {
      parts.push_back(
          fmt::format("{}: {} {}", f.name.str(), name_of(f.value.dtype()), f.value.shape().str()));
    }
    return fmt::format("from_tensor_slices({})", fmt::join(parts, ", "));
  }
  int64_t cardinality() const override { return fields_[0].value.dim(0); }
  void at(int64_t i, int64_t, const SampleContext&, Element& out) const override {
    for (const Field& f : fields_) out.append(f.name, f.value.row(i));
  }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<TensorSlicesNode>(fields_);
  }

 private:
  std::vector<Field> fields_;
};

}  // namespace

NodePtr make_tensor_slices(std::vector<std::pair<std::string, Tensor>> fields) {
  if (fields.empty())
    throw Error("from_tensor_slices: the list of tensors is empty", "give at least one tensor");
  std::vector<Field> named;
  for (auto& [name, tensor] : fields) {
    if (tensor.rank() == 0) {
      throw Error(
          fmt::format(
              "from_tensor_slices: '{}' is a single number, so it cannot be split into samples",
              name),
          "give tensors whose first dimension counts the samples");
    }
    if (!named.empty() && tensor.dim(0) != named[0].value.dim(0)) {
      throw Error(fmt::format("from_tensor_slices: '{}' has {} rows, but '{}' has {}", name,
                              tensor.dim(0), named[0].name.str(), named[0].value.dim(0)),
                  "all tensors must have the same first dimension");
    }
    named.push_back({Name(name), std::move(tensor)});
  }
  return std::make_shared<TensorSlicesNode>(std::move(named));
}

}  // namespace headway
