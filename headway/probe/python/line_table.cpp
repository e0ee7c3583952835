#include "headway/probe/python/line_table.h"

namespace headway {
namespace {

int64_t lnotab_line(std::string_view table, int64_t line, int64_t offset) {
  int64_t address = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    address += static_cast<unsigned char>(table[i]);
    if (address > offset) break;
    line += static_cast<signed char>(table[i + 1]);
  }
  return line;
}

int64_t deltas_line(std::string_view table, int64_t first_line, int64_t offset) {
  constexpr int kNoLine = -128;
  int64_t end = 0;
  int64_t line = first_line;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const int delta = static_cast<signed char>(table[i + 1]);
    end += static_cast<unsigned char>(table[i]);
    if (delta != kNoLine) line += delta;
    if (offset < end) return delta == kNoLine ? first_line : line;
  }
  return line;
}

// Six bits per byte, low ones first; bit 6 says that more follow.
class Varints {
 public:
  Varints(std::string_view bytes, size_t& at) : bytes_(bytes), at_(at) {}

  uint32_t next() {
    uint32_t value = 0;
    for (int shift = 0; at_ < bytes_.size() && shift < 30; shift += 6) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= uint32_t(byte & 63) << shift;
      if (!(byte & 64)) break;
    }
    return value;
  }
  int next_signed() {
    const uint32_t value = next();
    return value & 1 ? -static_cast<int>(value >> 1) : static_cast<int>(value >> 1);
  }

 private:
  std::string_view bytes_;
  size_t& at_;
};

int64_t locations_line(std::string_view table, int64_t first_line, int64_t offset) {
  int64_t end = 0;
  int64_t line = first_line;
  for (size_t at = 0; at < table.size();) {
    const auto head = static_cast<unsigned char>(table[at++]);
    if (!(head & 128)) return first_line;  // not the beginning of an entry
    const int form = head >> 3 & 15;
    end += 2 * ((head & 7) + 1);
    Varints varints(table, at);
    bool known = true;
    if (form == 15) {
      known = false;
    } else if (form == 14) {
      line += varints.next_signed();
      for (int i = 0; i < 3; ++i) varints.next();  // end line, columns
    } else if (form == 13) {
      line += varints.next_signed();
    } else if (form >= 10) {
      line += form - 10;
      at += 2;
    } else {
      at += 1;
    }
    if (offset < end) return known ? line : first_line;
  }
  return line;
}

}  // namespace

int line_of(LineTable kind, std::string_view table, int first_line, int64_t offset) {
  // Not begun yet. The tables of 3.10 name the line with which it will begin.
  if (offset < 0 && kind != LineTable::kDeltas) return first_line;
  const auto line = kind == LineTable::kLnotab   ? lnotab_line(table, first_line, offset)
                    : kind == LineTable::kDeltas ? deltas_line(table, first_line, offset)
                                                 : locations_line(table, first_line, offset);
  return line == static_cast<int>(line) ? static_cast<int>(line) : first_line;
}

}  // namespace headway
