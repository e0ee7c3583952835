#include <fmt/format.h>

#include "headway/data/ops/ops.h"
#include "headway/data/plan.h"

namespace headway {
namespace {

class UnbatchIterator : public Iterator {
 public:
  explicit UnbatchIterator(std::unique_ptr<Iterator> input) : input_(std::move(input)) {
    input_->save(before_);
  }

  Poll next(Element& out) override {
    while (row_ >= rows_) {
      before_.clear();
      input_->save(before_);
      const Poll poll = input_->next(batch_);
      if (poll != Poll::kElement) return poll;
      rows_ = rows_of(batch_);
      row_ = std::min(skip_, rows_);
      skip_ -= row_;
    }
    out.clear();
    for (const Field& f : batch_.fields()) out.append(f.name, f.value.row(row_));
    out.copy_origin(batch_);
    ++row_;
    return Poll::kElement;
  }
  // The position is that of the batch at hand, and how many of its rows are gone.
  void save(Cursor& cursor) const override {
    const bool inside = row_ < rows_;
    cursor.put(inside ? row_ : skip_);
    if (inside) return cursor.put(before_);
    Cursor now;
    input_->save(now);
    cursor.put(now);
  }
  void restore(CursorReader& cursor) override {
    skip_ = cursor.take();
    before_ = cursor.take_cursor();
    CursorReader nested(before_);
    input_->restore(nested);
  }

 private:
  static int64_t rows_of(const Element& batch) {
    int64_t rows = -1;
    for (const Field& f : batch.fields()) {
      if (f.value.rank() == 0) {
        throw Error(
            fmt::format("unbatch: '{}' is a single number, so it cannot be split into samples",
                        f.name.str()),
            "call .unbatch() only after .batch(), or remove this field with .map() first");
      }
      if (rows >= 0 && rows != f.value.dim(0)) {
        throw Error(fmt::format("unbatch: '{}' has {} rows, but another field has {}", f.name.str(),
                                f.value.dim(0), rows),
                    "all fields of a batch must have the same first dimension");
      }
      rows = f.value.dim(0);
    }
    return std::max<int64_t>(rows, 0);
  }

  std::unique_ptr<Iterator> input_;
  Cursor before_;
  Element batch_;
  int64_t row_ = 0, rows_ = 0, skip_ = 0;
};

class UnbatchNode : public Node {
 public:
  explicit UnbatchNode(NodePtr input) : Node({std::move(input)}) {}
  std::string describe() const override { return "unbatch"; }
  int64_t cardinality() const override {
    return input()->cardinality() == kInfinite ? kInfinite : kUnknown;
  }
  std::unique_ptr<Iterator> iterate(Runtime& runtime, int64_t epoch, int depth) const override {
    return std::make_unique<UnbatchIterator>(start(runtime, input(), epoch, depth));
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<UnbatchNode>(std::move(inputs[0]));
  }
};

}  // namespace

NodePtr make_unbatch(NodePtr input) { return std::make_shared<UnbatchNode>(std::move(input)); }

}  // namespace headway
