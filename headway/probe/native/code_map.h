#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// Where a process has code in its memory, and from which file. A snapshot of one moment.
class CodeMap {
 public:
  struct Piece {
    uint64_t begin = 0, end = 0;
    uint64_t offset = 0;  // in the file
    uint64_t inode = 0;   // 0: no file, generated while the program runs
    std::string path{};

    bool is_generated() const { return inode == 0 && !path.starts_with('['); }  // except [vdso]
  };

  CodeMap() = default;
  // The text of /proc/PID/maps.
  explicit CodeMap(std::string_view maps);
  static CodeMap of(pid_t pid);

  const Piece* at(uint64_t address) const;  // nullptr: no code there
  size_t size() const { return pieces_.size(); }

 private:
  std::vector<Piece> pieces_;  // sorted
};

}  // namespace headway
