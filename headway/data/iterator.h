#pragma once

#include "headway/core/element.h"
#include "headway/data/cursor.h"

namespace headway {

enum class Poll {
  kElement,  // here is one
  kEnd,      // there are no more
  kPending,  // not now: an upstream stage is still at work; ask again when something has happened
};

// The running half of an operator. Called by one thread at a time. It may block on a disk, never on
// another stage: what is not there yet is kPending, with everything gathered so far kept.
class Iterator {
 public:
  virtual ~Iterator() = default;

  // After a SampleError the next call goes on behind the bad sample; after any other exception the
  // iterator is spent.
  virtual Poll next(Element& out) = 0;

  // The position behind the last element given out. restore() is called on a fresh iterator.
  virtual void save(Cursor& cursor) const = 0;
  virtual void restore(CursorReader& cursor) = 0;
};

}  // namespace headway
