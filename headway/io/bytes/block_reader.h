#pragma once

#include <memory>
#include <string_view>

#include "headway/core/tensor.h"
#include "headway/io/bytes/byte_source.h"

namespace headway {

// A window over a byte source, in reference-counted blocks (or mapped pages): what it shows can be
// handed on without a copy, as long as a reference to block() is taken. Call from one thread.
//
//   while (reader.need(4)) {
//     use(reader.held().substr(0, 4), reader.block());
//     reader.consume(4);
//   }
class BlockReader {
 public:
  // `mapped`: files may be mapped instead of read. For those who check what they get: a file that
  // is cut short meanwhile turns into zeros.
  explicit BlockReader(std::unique_ptr<ByteSource> source, bool mapped = false);
  BlockReader(const BlockReader&) = delete;
  ~BlockReader();

  // Makes at least `n` bytes held, side by side; false when the source ends before. `n` need not be
  // trusted: memory is taken only as bytes arrive. Views of held() become invalid unless
  // their block is retained. What the source throws is thrown once, then it is at its end.
  bool need(uint64_t n) { return held().size() >= n || fill(n); }

  std::string_view held() const { return {begin_, static_cast<size_t>(end_ - begin_)}; }
  Storage* block() const { return block_; }  // owns the held bytes

  void consume(size_t n) {  // REQUIRES: n <= held().size()
    begin_ += n;
    offset_ += n;
  }
  void consume_all() { consume(held().size()); }

  uint64_t tell() const { return offset_; }
  void seek(uint64_t offset);
  uint64_t left_bytes() const;  // until the end, or ByteSource::kUnknown
  const std::string& path() const { return source_->path(); }

 private:
  bool fill(uint64_t n);
  size_t read(size_t n);
  void move_to_block_of(uint64_t size_bytes);
  void renew_block();
  void show(Storage* block, size_t size);

  std::unique_ptr<ByteSource> source_;
  Storage* block_ = nullptr;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  uint64_t offset_ = 0;  // of *begin_
  const bool mapped_;
  bool broken_ = false;  // the source failed; it is not asked again before a seek
};

}  // namespace headway
