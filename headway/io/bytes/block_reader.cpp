#include "headway/io/bytes/block_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "headway/io/bytes/block_pool.h"

namespace headway {
namespace {

// Two of them fit the second-level cache of current processors, so that what was just read is
// checked and used from there. With 1 MB blocks reading was 15% slower.
constexpr size_t kBlockBytes = size_t{256} << 10;

// Read beyond what is needed: the header of the next record comes with the end of this one, and a
// stream of large records costs one call each and no moving of bytes between blocks.
constexpr size_t kHeaderAhead = 12;

constexpr size_t kShortRest = 4096;

}  // namespace

BlockReader::BlockReader(std::unique_ptr<ByteSource> source, bool mapped)
    : source_(std::move(source)), mapped_(mapped) {
  show(BlockPool::shared().take(kBlockBytes), 0);
}

BlockReader::~BlockReader() {
  if (block_) block_->drop();
}

bool BlockReader::fill(uint64_t n) {
  if (broken_) return false;
  if (Storage* const window = mapped_ ? source_->view(offset_, n) : nullptr) {
    if (block_) block_->drop();
    show(window, window->size_bytes());
    return true;
  }
  if (!block_) show(BlockPool::shared().take(kBlockBytes), 0);  // memory ran out the last time
  while (held().size() < n) {
    const size_t have = held().size();
    uint64_t goal = n + kHeaderAhead;
    if (goal > kBlockBytes && goal - have > source_->left_bytes()) {
      goal = std::min<uint64_t>(goal, std::max<uint64_t>(kBlockBytes, 2 * have));
    }
    auto* block_end = static_cast<const char*>(block_->data()) + block_->size_bytes();
    if (static_cast<uint64_t>(block_end - begin_) < goal) {
      move_to_block_of(goal);
      block_end = static_cast<const char*>(block_->data()) + block_->size_bytes();
    }
    const size_t want = std::max<uint64_t>(goal - have, source_->read_ahead_bytes());
    const size_t room = static_cast<size_t>(block_end - end_);
    const size_t got = read(std::min(want, room));
    if (got == 0) return false;
    end_ += got;
  }
  return true;
}

// One complaint for one fault: what was left half-read goes with it, and the end follows.
size_t BlockReader::read(size_t n) {
  try {
    return source_->read(const_cast<char*>(end_), n);
  } catch (...) {
    broken_ = true;
    consume_all();
    throw;
  }
}

void BlockReader::move_to_block_of(uint64_t size_bytes) {
  const std::string_view rest = held();
  if (size_bytes <= kBlockBytes && rest.size() <= kShortRest) return renew_block();
  Storage* next = BlockPool::shared().take(std::max<uint64_t>(size_bytes, kBlockBytes));
  std::memcpy(next->data(), rest.data(), rest.size());
  block_->drop();
  show(next, rest.size());
}

// The old block is dropped first: if nobody holds a record of it, the pool hands the very same one
// out again, and its lines are the hottest there are.
void BlockReader::renew_block() {
  char aside[kShortRest];
  const size_t size = held().size();
  std::memcpy(aside, begin_, size);
  begin_ = end_ = nullptr;
  std::exchange(block_, nullptr)->drop();
  show(BlockPool::shared().take(kBlockBytes), size);
  std::memcpy(block_->data(), aside, size);
}

void BlockReader::show(Storage* block, size_t size) {
  block_ = block;
  begin_ = static_cast<const char*>(block->data());
  end_ = begin_ + size;
}

void BlockReader::seek(uint64_t offset) {
  const uint64_t held_end = offset_ + held().size();
  if (offset >= offset_ && offset <= held_end) return consume(offset - offset_);
  broken_ = false;
  source_->seek(offset);
  begin_ = end_;
  offset_ = offset;
}

uint64_t BlockReader::left_bytes() const {
  const uint64_t left = source_->left_bytes();
  return left == ByteSource::kUnknown ? left : left + held().size();
}

}  // namespace headway
