#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "headway/io/bytes/compression.h"
#include "headway/io/bytes/output_file.h"
#include "headway/io/records/tfrecord_index.h"

namespace headway {

class Deflater;

struct TFRecordWriterOptions {
  Compression compression = Compression::kNone;
  bool append = false;  // behind what the file holds; gzip gets a new member, zlib cannot
  bool index = false;   // close() also writes the sidecar; plain and not appended only
};

// Writes a TFRecord file. Every failure throws; the destructor closes what was not closed, but
// its failures are lost, so call close(). Call from one thread.
//
//   TFRecordWriter writer("train.tfrecord", {.index = true});
//   for (const std::string& record : records) writer.write(record);
//   writer.close();
class TFRecordWriter {
 public:
  explicit TFRecordWriter(const std::string& path, TFRecordWriterOptions options = {});
  ~TFRecordWriter();

  void write(std::string_view record);
  void flush();  // what was written can now be read by others
  void close();  // again is harmless

  uint64_t count() const { return count_; }  // of records written here

 private:
  void put(std::string_view bytes);
  void drain();
  void send(std::string_view bytes);

  TFRecordWriterOptions options_;
  OutputFile file_;
  std::unique_ptr<Deflater> deflater_;
  TFRecordIndex index_;
  std::string pending_;     // not yet compressed or written
  std::string compressed_;  // empty between calls
  uint64_t count_ = 0;
  bool open_ = true;
};

}  // namespace headway
