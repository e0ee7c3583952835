#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway {

// A file being written, without a buffer of its own. Every failure throws ResourceError with the
// path, the system's reason and a remedy: no sample is to blame for it. Call from one thread.
class OutputFile {
 public:
  enum class Mode { kTruncate, kAppend, kCreateNew };

  explicit OutputFile(std::string path, Mode mode = Mode::kTruncate);
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();  // closes; errors are lost here, so call close()

  void write(std::string_view bytes);
  void sync();   // returns once the bytes are on the device
  void close();  // again is harmless
  uint64_t size_bytes() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
};

// A file that appears whole or not at all: written beside its place, renamed by commit().
// Without commit() the destructor removes what was written.
//
//   AtomicFile file("train.tfrecord.hwidx");
//   file.write(bytes);
//   file.commit();
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();

  void write(std::string_view bytes) { file_.write(bytes); }
  void commit();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  OutputFile file_;
  bool committed_ = false;
};

}  // namespace headway
