#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway {

// Where every record of a plain TFRecord file lies: 4.25 bytes each. Const calls are safe from any
// thread.
//
//   const TFRecordIndex index = index_of("train.tfrecord");
//   Tensor record = file.read_at(index.offset(i), index.length(i));
class TFRecordIndex {
 public:
  size_t count() const { return lengths_.size(); }
  uint64_t offset(size_t i) const;                         // REQUIRES: i < count()
  uint32_t length(size_t i) const { return lengths_[i]; }  // of the payload
  uint64_t file_bytes() const { return file_bytes_; }      // where the last record ends
  size_t memory_bytes() const;

  void append(uint32_t length);

  bool operator==(const TFRecordIndex&) const = default;

 private:
  friend std::optional<TFRecordIndex> load_index(const std::string& path);
  friend void save_index(const std::string& path, const TFRecordIndex& index);
  static constexpr size_t kStride = 32;

  void find_anchors();

  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> anchors_;  // offset of every kStride-th record
  uint64_t file_bytes_ = 0;
};

// By reading the headers only (length CRCs are checked, data is not). Damage, a cut tail or a
// compressed file throw SampleError.
TFRecordIndex build_index(const std::string& path);

// From the sidecar; nullopt when there is none, or it is damaged, or the file's size or time of
// change differ from those noted in it.
std::optional<TFRecordIndex> load_index(const std::string& path);

// Writes the sidecar, whole or not at all.
void save_index(const std::string& path, const TFRecordIndex& index);

// From the sidecar, or built and then saved where the folder can be written to.
TFRecordIndex index_of(const std::string& path);

std::string index_path(const std::string& path);  // "train.tfrecord.hwidx"

}  // namespace headway
