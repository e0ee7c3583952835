#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "headway/io/bytes/block_reader.h"
#include "headway/io/records/record.h"

namespace headway {

struct TFRecordOptions {
  Compression compression = Compression::kAuto;
  uint64_t max_record_bytes = uint64_t{1} << 31;  // beyond, a length is taken for damage
};

// Reads a TFRecord file from front to back and checks both CRCs of every record.
// Damage throws SampleError with file and offset, once for each place, and reading can go on:
//   wrong data CRC, length above the limit    next() continues with the record behind it
//   wrong length CRC                          next() looks for the next place where one is right
//   cut short, damaged compression            next() says that it is the end
// Call from one thread.
//
//   TFRecordReader reader("train-00001.tfrecord");
//   Record record;
//   while (reader.next(record)) use(record.bytes);
class TFRecordReader {
 public:
  explicit TFRecordReader(const std::string& path, TFRecordOptions options = {});

  // False at the end.
  bool next(Record& record);

  // Continues at `offset`, which must be where a record starts. Compressed files are inflated up to
  // there, from the start when it lies behind.
  void seek(uint64_t offset);
  // Where the next record starts; looks for it when the last length was damaged, and leaves what
  // fails meanwhile for next() to throw.
  uint64_t tell();
  const std::string& path() const { return in_.path(); }

 private:
  void find_record();
  [[noreturn]] void fail(uint64_t offset, const std::string& reason, const std::string& hint);

  TFRecordOptions options_;
  BlockReader in_;
  bool lost_ = false;           // in_ stands at a header that was reported as damaged
  std::exception_ptr pending_;  // found by tell()
};

// Records of a plain TFRecord file in any order. Safe from any thread.
class TFRecordFile {
 public:
  explicit TFRecordFile(const std::string& path);

  // The record that starts at `offset`, as a string tensor that owns it; both CRCs checked.
  // With its `length` known (see TFRecordIndex) it is one system call, else two.
  Tensor read_at(uint64_t offset, int64_t length = -1) const;

  const std::string& path() const { return file_.path(); }
  uint64_t size_bytes() const { return file_.size_bytes(); }

 private:
  uint64_t length_at(uint64_t offset) const;
  void check_room(uint64_t offset, uint64_t length) const;
  [[noreturn]] void wrong_header(uint64_t offset, const char* header) const;

  File file_;
};

// By the first bytes: a right length CRC says plain; then gzip's and zlib's marks are looked for.
Compression detect_tfrecord_compression(std::string_view head);

}  // namespace headway
