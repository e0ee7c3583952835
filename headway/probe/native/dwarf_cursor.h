#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace headway {

// Reads numbers one after the other from untrusted bytes. Past the end everything is 0, and good()
// is false from then on. Refers to the bytes.
class DwarfCursor {
 public:
  explicit DwarfCursor(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T out{};
    if (!has(sizeof out)) return out;
    std::memcpy(&out, bytes_.data() + at_, sizeof out);
    at_ += sizeof out;
    return out;
  }
  uint64_t unsigned_number() {  // LEB128
    uint64_t out = 0;
    for (int shift = 0; has(1); shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) out |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return out;
    }
    return 0;
  }
  int64_t signed_number() {
    uint64_t out = 0;
    for (int shift = 0; has(1);) {
      const auto byte = take<uint8_t>();
      if (shift < 64) out |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if (shift < 64 && (byte & 0x40)) out |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(out);
    }
    return 0;
  }
  std::string text() {  // up to a 0, which is skipped
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return fail(), "";
    std::string out(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }
  std::string block(uint64_t size) {
    if (!has(size)) return "";
    std::string out(bytes_.substr(at_, size));
    at_ += size;
    return out;
  }
  std::string rest() { return block(bytes_.size() - at_); }
  void go_to(size_t place) {
    if (place < at_ || place > bytes_.size()) return fail();
    at_ = place;
  }

  size_t at() const { return at_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  bool good() const { return good_; }

 private:
  bool has(uint64_t size) {
    if (good_ && size <= bytes_.size() - at_) return true;
    fail();
    return false;
  }
  void fail() { good_ = false, at_ = bytes_.size(); }

  std::string_view bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

}  // namespace headway
