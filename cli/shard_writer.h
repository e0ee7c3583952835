#pragma once

#include <cstdint>
#include <string>

#include "headway/io/records/tfrecord_writer.h"

namespace headway::cli {

// "data-00003-of-00016.tfrecord", with .gz or .zlib behind it when compressed.
std::string shard_name(int64_t shard, int64_t shards, Compression compression);

// A TFRecord file that appears whole and with its index, or not at all: whatever ends the program,
// a file under its final name is complete. Without commit() the destructor removes what was
// written.
class ShardWriter {
 public:
  ShardWriter(std::string path, Compression compression);
  ~ShardWriter();

  void write(std::string_view record) { writer_.write(record); }
  void commit();
  uint64_t count() const { return writer_.count(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool indexed_;
  TFRecordWriter writer_;
  bool committed_ = false;
};

}  // namespace headway::cli
