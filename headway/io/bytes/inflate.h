#pragma once

#include <exception>
#include <memory>

#include "headway/io/bytes/byte_source.h"

struct inflate_state;

namespace headway {

// The bytes inside a gzip or zlib file, by ISA-L. A gzip file may hold several members one after
// another and zeros behind the last; anything else behind it is an error, as is a wrong checksum.
// Seeking backwards inflates from the start again.
class InflateSource final : public ByteSource {
 public:
  // REQUIRES: compression is kGzip or kZlib.
  InflateSource(File file, Compression compression);
  ~InflateSource() override;

  size_t read(char* into, size_t n) override;
  void seek(uint64_t offset) override;
  uint64_t left_bytes() const override { return done_ ? 0 : kUnknown; }
  size_t read_ahead_bytes() const override { return size_t{256} << 10; }
  const std::string& path() const override { return file_.path(); }

 private:
  void restart();
  void refill();
  bool start_member();  // false at the end of the file
  void step();
  [[noreturn]] void fail(const std::string& reason);

  File file_;
  Compression compression_;
  std::unique_ptr<inflate_state> state_;
  std::unique_ptr<char[]> input_;
  uint64_t input_end_ = 0;  // offset in the file up to which input was read
  uint64_t offset_ = 0;     // of the next inflated byte
  bool in_member_ = false;
  bool any_member_ = false;
  bool done_ = false;
  std::exception_ptr damage_;  // found behind bytes that were still good
};

}  // namespace headway
