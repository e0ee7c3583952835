#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headway {

// Many file names in little memory: a name costs its own bytes and about 1.3 more, a folder is held
// once. Ten million names of 16 bytes take 175 MB. Const calls are safe from any thread.
//
//   PathList files;
//   files.append("photos/cats", "0001.jpg");
//   files.path(0);  // "photos/cats/0001.jpg"
class PathList {
 public:
  // Appending the files of one folder together is what keeps it small. `folder` may be empty.
  void append(std::string_view folder, std::string_view name);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string path(size_t i) const {  // REQUIRES: i < size()
    std::string out;
    path(i, out);
    return out;
  }
  void path(size_t i, std::string& out) const;  // reuses the memory of `out`
  std::string_view name(size_t i) const;        // "0001.jpg"
  const std::string& folder(size_t i) const;    // "photos/cats"

  size_t memory_bytes() const;

 private:
  static constexpr size_t kChunk = 65536;  // names in one chunk: only the last one ever grows
  static constexpr size_t kStride = 16;    // names walked through from a known position

  struct Chunk {
    std::string names;             // each behind its length: one byte, or 0xff and four
    std::vector<uint32_t> starts;  // of every kStride-th name
  };
  struct Run {
    uint64_t first;   // path of this folder; the run ends where the next one starts
    uint32_t folder;  // in folders_
  };

  uint32_t folder_number(std::string_view folder);

  std::vector<Chunk> chunks_;
  std::vector<Run> runs_;
  std::vector<std::string> folders_;
  std::unordered_map<std::string, uint32_t> numbers_;  // of folders_
  size_t size_ = 0;
};

}  // namespace headway
