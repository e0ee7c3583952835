#pragma once

#include <algorithm>
#include <memory>

#include "headway/data/iterator.h"
#include "headway/data/skip_log.h"

namespace headway {

// Serial operators over one input whose own state is one number: how many are left, seen, ...
class CountingIterator : public Iterator {
 public:
  CountingIterator(std::unique_ptr<Iterator> input, int64_t count)
      : input_(std::move(input)), count_(count) {}
  void save(Cursor& cursor) const final {
    cursor.put(count_);
    input_->save(cursor);
  }
  void restore(CursorReader& cursor) final {
    count_ = cursor.take_any();
    input_->restore(cursor);
  }

 protected:
  std::unique_ptr<Iterator> input_;
  int64_t count_;
};

// For operators that gather several elements before they give one out. They may be interrupted
// (kPending) while they hold some; the position is then still the one behind the last one given
// out.
class GatheringIterator : public Iterator {
 public:
  void save(Cursor& cursor) const final { cursor.put(settled_); }
  void restore(CursorReader& cursor) final {
    settled_ = cursor.take_cursor();
    CursorReader nested(settled_);
    restore_inputs(nested);
  }

 protected:
  virtual void save_inputs(Cursor& cursor) const = 0;
  virtual void restore_inputs(CursorReader& cursor) = 0;
  // Call when nothing is held: after construction, and whenever one was given out.
  void settle() {
    settled_.clear();
    save_inputs(settled_);
  }

 private:
  Cursor settled_;
};

// For operators whose state cannot be a cursor: the position is how many elements were given out,
// and restoring gives them out again to nobody. Subclasses provide produce().
class ReplayIterator : public Iterator {
 public:
  Poll next(Element& out) final {
    while (given_ < replay_to_) {
      const SkipLog::Replay replay;  // what was skipped then has been noted then
      try {
        if (const Poll poll = step(out); poll != Poll::kElement) return poll;
      } catch (const SampleError&) {
      }
    }
    return step(out);
  }
  void save(Cursor& cursor) const final {
    cursor.put(std::max(given_, replay_to_));
    save_more(cursor);
  }
  void restore(CursorReader& cursor) final {
    replay_to_ = cursor.take();
    restore_more(cursor);
  }

 protected:
  virtual Poll produce(Element& out) = 0;
  virtual void save_more(Cursor&) const {}
  virtual void restore_more(CursorReader&) {}

 private:
  Poll step(Element& out) {  // a bad sample counts as given
    try {
      const Poll poll = produce(out);
      given_ += poll == Poll::kElement;
      return poll;
    } catch (const SampleError&) {
      ++given_;
      throw;
    }
  }

  int64_t given_ = 0;
  int64_t replay_to_ = 0;
};

}  // namespace headway
