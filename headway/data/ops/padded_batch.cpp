#include <fmt/format.h>

#include <algorithm>

#include "headway/data/ops/iterators.h"
#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

// Copies `from` into the corner of `to`; both row-major, shapes of the same rank.
void copy_corner(const Tensor& from, const Shape& to_shape, char* to) {
  const Shape shape = from.shape();
  const int64_t value = size_of(from.dtype());
  if (shape.count() == 0) return;
  if (shape.rank() == 0) {
    std::memcpy(to, from.data(), value);
    return;
  }
  const int64_t run = shape[shape.rank() - 1];
  const auto* source = static_cast<const char*>(from.data());
  const int64_t runs = shape.count() / run;
  for (int64_t r = 0; r < runs; ++r) {
    int64_t offset = 0, rest = r, step = to_shape[shape.rank() - 1];
    for (int axis = shape.rank() - 2; axis >= 0; --axis) {
      offset += rest % shape[axis] * step;
      rest /= shape[axis];
      step *= to_shape[axis];
    }
    std::memcpy(to + offset * value, source + r * run * value, run * value);
  }
}

template <typename T>
void fill(Tensor& tensor, T value) {
  std::ranges::fill(tensor.values<T>(), value);
}

void fill_padding(Tensor& tensor, double value) {
  switch (tensor.dtype()) {
    case DType::kUInt8: return fill<uint8_t>(tensor, static_cast<uint8_t>(value));
    case DType::kUInt16: return fill<uint16_t>(tensor, static_cast<uint16_t>(value));
    case DType::kInt32: return fill<int32_t>(tensor, static_cast<int32_t>(value));
    case DType::kInt64: return fill<int64_t>(tensor, static_cast<int64_t>(value));
    case DType::kFloat32: return fill<float>(tensor, static_cast<float>(value));
    case DType::kFloat64: return fill<double>(tensor, value);
    case DType::kBool: return fill<bool>(tensor, value != 0);
    case DType::kString: return;
  }
}

class PaddedBatchIterator : public GatheringIterator {
 public:
  PaddedBatchIterator(std::unique_ptr<Iterator> input, int64_t size, PaddedBatchOptions options)
      : input_(std::move(input)), size_(size), options_(std::move(options)) {
    settle();
  }

  Poll next(Element& out) override {
    while (static_cast<int64_t>(held_.size()) < size_ && !ended_) {
      Element element;
      const Poll poll = input_->next(element);
      if (poll == Poll::kElement) held_.push_back(std::move(element));
      if (poll == Poll::kPending) return poll;
      ended_ = poll == Poll::kEnd;
    }
    if (held_.empty()) return Poll::kEnd;
    if (options_.drop_remainder && static_cast<int64_t>(held_.size()) < size_) return Poll::kEnd;
    out.clear();
    for (const Field& field : held_[0].fields()) out.append(field.name, assemble(field.name));
    held_.clear();
    settle();
    return Poll::kElement;
  }

 protected:
  void save_inputs(Cursor& cursor) const override { input_->save(cursor); }
  void restore_inputs(CursorReader& cursor) override { input_->restore(cursor); }

 private:
  Shape target(const Name& name) const {
    Shape shape = held_[0][name].shape();
    for (const Element& e : held_) {
      const Tensor& t = e[name];
      if (t.rank() != shape.rank() || t.dtype() != held_[0][name].dtype()) {
        throw Error(
            fmt::format(
                "padded_batch: '{}' is {} of shape {} in one sample and {} of shape {} in another",
                name.str(), name_of(t.dtype()), t.shape().str(), name_of(held_[0][name].dtype()),
                shape.str()),
            "give all samples the same type and number of dimensions, with a .map() before");
      }
      for (int axis = 0; axis < shape.rank(); ++axis)
        shape[axis] = std::max(shape[axis], t.dim(axis));
    }
    for (const auto& [field, dims] : options_.padded_shapes) {
      if (field != name.str()) continue;
      for (int axis = 0; axis < shape.rank() && axis < static_cast<int>(dims.size()); ++axis) {
        if (dims[axis] < 0) continue;
        if (dims[axis] < shape[axis]) {
          throw Error(
              fmt::format(
                  "padded_batch: '{}' has shape {}, which is longer than the padded size {}", field,
                  shape.str(), dims[axis]),
              "raise the size in .padded_shapes (-1: as long as the longest), or shorten the "
              "sequence with .map() first");
        }
        shape[axis] = dims[axis];
      }
    }
    return shape;
  }

  Tensor assemble(const Name& name) const {
    const Shape shape = target(name);
    const auto rows = static_cast<int64_t>(held_.size());
    const DType dtype = held_[0][name].dtype();
    if (dtype == DType::kString) return assemble_strings(name, shape);
    Tensor batch = Tensor::empty(dtype, shape.with_outer(rows));
    fill_padding(batch, options_.padding_value);
    char* row = static_cast<char*>(batch.data());
    for (const Element& e : held_) {
      copy_corner(e[name], shape, row);
      row += shape.count() * size_of(dtype);
    }
    return batch;
  }

  Tensor assemble_strings(const Name& name, const Shape& shape) const {
    if (shape.rank() > 1) {
      throw Error("padded_batch: strings with more than one dimension cannot be padded",
                  "flatten them with .map() first");
    }
    std::vector<std::string> all;
    for (const Element& e : held_) {
      const auto values = e[name].values<std::string_view>();
      for (std::string_view s : values) all.emplace_back(s);
      all.resize(all.size() + shape.count() - values.size(), options_.padding_string);
    }
    return Tensor::strings(all).reshaped(shape.with_outer(held_.size()));
  }

  std::unique_ptr<Iterator> input_;
  int64_t size_;
  PaddedBatchOptions options_;
  std::vector<Element> held_;
  bool ended_ = false;
};

class PaddedBatchNode : public Node {
 public:
  PaddedBatchNode(NodePtr input, int64_t size, PaddedBatchOptions options)
      : Node({std::move(input)}), size_(size), options_(std::move(options)) {}

  std::string describe() const override {
    std::string text =
        fmt::format("padded_batch({}{}", size_, options_.drop_remainder ? ", drop_remainder" : "");
    for (const auto& [field, dims] : options_.padded_shapes) {
      text += fmt::format(", {} to {}", field, fmt::join(dims, "x"));
    }
    return text + ")";
  }
  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (n < 0) return n;
    return options_.drop_remainder ? n / size_ : (n + size_ - 1) / size_;
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    // Bad samples are skipped before they are gathered: in a stage of their own.
    auto samples = runtime.skips_errors() ? start_stage(runtime, input(), epoch, depth)
                                          : start(runtime, input(), epoch, depth);
    return std::make_unique<PaddedBatchIterator>(std::move(samples), size_, options_);
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<PaddedBatchNode>(std::move(inputs[0]), size_, options_);
  }

 private:
  int64_t size_;
  PaddedBatchOptions options_;
};

}  // namespace

NodePtr make_padded_batch(NodePtr input, int64_t size, PaddedBatchOptions options) {
  if (size < 1) {
    throw Error(fmt::format("padded_batch: invalid batch size {}", size),
                "the batch size must be 1 or more");
  }
  return std::make_shared<PaddedBatchNode>(std::move(input), size, std::move(options));
}

}  // namespace headway
