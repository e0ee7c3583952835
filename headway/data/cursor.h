#pragma once

#include <cstdint>
#include <vector>

#include "headway/core/error.h"

namespace headway {

// The position of an iterator as a few numbers, written by save() and read back by restore() of the
// same operators in the same order.
class Cursor {
 public:
  void clear() { words_.clear(); }
  void put(int64_t word) { words_.push_back(word); }
  void put(const Cursor& other) {  // nested, with its length
    put(static_cast<int64_t>(other.words_.size()));
    words_.insert(words_.end(), other.words_.begin(), other.words_.end());
  }
  const std::vector<int64_t>& words() const { return words_; }
  std::vector<int64_t>& words() { return words_; }

 private:
  std::vector<int64_t> words_;
};

class CursorReader {
 public:
  explicit CursorReader(const Cursor& cursor) : words_(cursor.words()) {}

  // A count: what a hostile position says is refused where it would lead outside of the data.
  int64_t take() {
    const int64_t word = take_any();
    if (word < 0 || word > kLargest) damaged();
    return word;
  }
  int64_t take_below(int64_t end) {
    const int64_t word = take();
    if (word >= end) damaged();
    return word;
  }
  int64_t take_any() {  // also what is negative, and what nothing is counted with
    if (at_ >= words_.size()) damaged();
    return words_[at_++];
  }
  Cursor take_cursor() {
    Cursor cursor;
    for (int64_t n = take(); n > 0; --n) cursor.put(take_any());
    return cursor;
  }
  bool done() const { return at_ == words_.size(); }

 private:
  static constexpr int64_t kLargest = int64_t{1} << 53;  // far from where sums of them overflow

  [[noreturn]] static void damaged() {
    throw Error("the saved position (state) of the pipeline is invalid",
                "it is damaged or was saved by another release of Headway: start from the "
                "beginning of the data, without .state in StartOptions");
  }

  const std::vector<int64_t>& words_;
  size_t at_ = 0;
};

}  // namespace headway
