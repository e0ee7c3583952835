#include "headway/probe/python/frame_pages.h"

#include <algorithm>
#include <cstring>

namespace headway {
namespace {

constexpr size_t kPage = 4096;     // or a part of one: it divides every page size
constexpr size_t kMostPages = 96;  // more than the deepest stack that is read needs
constexpr int kForgetAfter = 40;   // copies

}  // namespace

bool FramePages::copy(const MemoryReader& memory, std::span<const MemoryReader::Piece> first,
                      std::span<const MemoryReader::Piece> last) {
  std::erase_if(pages_, [](const Page& page) { return page.unused > kForgetAfter; });
  if (pages_.size() > kMostPages) pages_.clear();
  bytes_.resize(pages_.size() * kPage);
  for (Page& page : pages_) page.copied = 0;
  std::vector<MemoryReader::Piece> pieces(first.begin(), first.end());
  for (size_t i = 0; i < pages_.size(); ++i)
    pieces.push_back({pages_[i].address, bytes_.data() + i * kPage, kPage});
  pieces.insert(pieces.end(), last.begin(), last.end());
  const size_t whole = memory.read(pieces);
  if (whole < first.size()) return false;
  const size_t got = whole - first.size();
  for (size_t i = 0; i < pages_.size(); ++i) {
    pages_[i].copied = i < got ? i + 1 : 0;
    ++pages_[i].unused;
  }
  if (got < pages_.size()) pages_[got].unused = kForgetAfter + 1;  // that page no longer exists
  return whole == pieces.size();
}

bool FramePages::get(uint64_t address, char* into, size_t bytes) {
  const size_t here = std::min<size_t>(bytes, kPage - address % kPage);
  const bool head = get_from_page(address, into, here);
  return (here == bytes || get_from_page(address + here, into + here, bytes - here)) && head;
}

bool FramePages::get_from_page(uint64_t address, char* into, size_t bytes) {
  const uint64_t start = address / kPage * kPage;
  auto page = std::lower_bound(pages_.begin(), pages_.end(), start,
                               [](const Page& p, uint64_t wanted) { return p.address < wanted; });
  if (page == pages_.end() || page->address != start) page = pages_.insert(page, Page{start, 0, 0});
  if (page->copied == 0) return false;
  page->unused = 0;
  std::memcpy(into, bytes_.data() + (page->copied - 1) * kPage + address % kPage, bytes);
  return true;
}

}  // namespace headway
