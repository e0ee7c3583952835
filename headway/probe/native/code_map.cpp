#include "headway/probe/native/code_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "headway/core/descriptor.h"

namespace headway {
namespace {

constexpr size_t kAtOnce = 64 << 10, kMostBytes = 8 << 20, kMostPieces = 20'000,
                 kMostWithoutFile = 1000;

// Removes a number and the character after it from the front of the text.
bool take_number(std::string_view& text, int base, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(std::min<size_t>(text.size(), static_cast<size_t>(end - text.data()) + 1));
  return true;
}

}  // namespace

// "7f10-7f20 r-xp 00001000 08:01 1234                       /usr/lib/libm.so.6"
CodeMap::CodeMap(std::string_view maps) {
  size_t without_file = 0;
  while (!maps.empty() && pieces_.size() < kMostPieces) {
    std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    Piece piece;
    if (!take_number(line, 16, piece.begin) || !take_number(line, 16, piece.end)) continue;
    if (line.size() < 5 || line[2] != 'x') continue;
    line.remove_prefix(5);
    uint64_t device = 0;
    if (!take_number(line, 16, piece.offset) || !take_number(line, 16, device) ||
        !take_number(line, 16, device) || !take_number(line, 10, piece.inode))
      continue;
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    piece.path = line;
    if (piece.inode == 0 && ++without_file > kMostWithoutFile) continue;
    pieces_.push_back(std::move(piece));
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
}

CodeMap CodeMap::of(pid_t pid) {
  const Descriptor file(::open(fmt::format("/proc/{}/maps", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text, piece(kAtOnce, '\0');
  while (file.open() && text.size() < kMostBytes) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got <= 0) break;
    text.append(piece, 0, static_cast<size_t>(got));
  }
  return CodeMap(text);
}

const CodeMap::Piece* CodeMap::at(uint64_t address) const {
  auto after = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                [](uint64_t a, const Piece& piece) { return a < piece.begin; });
  if (after == pieces_.begin()) return nullptr;
  const Piece& piece = *--after;
  return address < piece.end ? &piece : nullptr;
}

}  // namespace headway
