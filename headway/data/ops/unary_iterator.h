#pragma once

#include <memory>

#include "headway/data/iterator.h"

namespace headway {

// The common half of serial operators over one input whose own state is a few numbers.
class UnaryIterator : public Iterator {
 public:
  explicit UnaryIterator(std::unique_ptr<Iterator> input) : input_(std::move(input)) {}
  void save(Cursor& cursor) const override { input_->save(cursor); }
  void restore(CursorReader& cursor) override { input_->restore(cursor); }

 protected:
  std::unique_ptr<Iterator> input_;
};

// For operators whose state cannot be a cursor: the position is how many elements were given out,
// and restoring gives them out again to nobody. Subclasses provide produce().
class ReplayIterator : public Iterator {
 public:
  Poll next(Element& out) final {
    while (given_ < replay_to_) {
      const Poll poll = produce(out);
      if (poll != Poll::kElement) return poll;
      ++given_;
    }
    const Poll poll = produce(out);
    if (poll == Poll::kElement) ++given_;
    return poll;
  }
  void save(Cursor& cursor) const final { cursor.put(std::max(given_, replay_to_)); }
  void restore(CursorReader& cursor) final { replay_to_ = cursor.take(); }

 protected:
  virtual Poll produce(Element& out) = 0;

 private:
  int64_t given_ = 0;
  int64_t replay_to_ = 0;
};

}  // namespace headway
