// Any bytes as a file cache: elements that are whole, or an Error; what is not a cache stays as it
// is. The first byte chooses: bit 0 to put a right header first, bit 1 to make the CRCs of the
// entries right; bit 2 takes the bytes as one element instead.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "headway/data/cache_store.h"
#include "headway/data/element_codec.h"
#include "headway/io/bytes/crc32c.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

constexpr const char* kDescription = "range(3)";
constexpr size_t kEntryHead = 24;

std::string header() {
  const uint64_t length = std::strlen(kDescription);
  std::string bytes = "HWCACHE1";
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes + kDescription;
}

// Entries of small numbers, as far as the bytes reach; lengths stay as they are.
void make_crcs_right(std::string& bytes, size_t at) {
  while (bytes.size() >= at && bytes.size() - at >= kEntryHead) {
    char* head = bytes.data() + at;
    uint64_t length = 0;
    std::memcpy(&length, head + 8, sizeof length);
    const size_t room = bytes.size() - at - kEntryHead;
    const uint32_t crc = crc32c({head + kEntryHead, std::min<uint64_t>(length, room)});
    std::memcpy(head + 16, &crc, sizeof crc);
    const uint32_t own = crc32c({head, 20});
    std::memcpy(head + 20, &own, sizeof own);
    if (length > room) return;
    at += kEntryHead + length;
  }
}

void look_at(const Element& element) {
  require(element.same(Element(element)));  // looks at every value
  std::string bytes;
  encode_element(element, bytes);
  require(decode_element(bytes).same(element));
}

void decode(std::string_view bytes) {
  try {
    look_at(decode_element(bytes));
  } catch (const Error& e) {
    require(!e.hint().empty());
  }
}

void read_through(CacheStore& cache) {
  for (int64_t i = 0; i < 8; ++i) {
    try {
      if (const auto element = cache.get(i)) look_at(*element);
    } catch (const Error& e) {
      require(!e.hint().empty());
    }
  }
  if (const auto count = cache.complete()) require(*count >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 4) {
    decode(bytes);
    return 0;
  }
  if (data[0] & 1) bytes = header() + bytes;
  if (data[0] & 2) make_crcs_right(bytes, header().size());
  const MemoryFile file(bytes);
  try {
    {
      const auto cache = file_cache(file.path(), kDescription);
      read_through(*cache);
      cache->put(7, Element(Tensor::scalar<int64_t>(7)));
    }
    const auto again = file_cache(file.path(), kDescription);
    read_through(*again);
  } catch (const Error& e) {
    require(!e.hint().empty() && e.problem().find(file.path()) != std::string::npos);
    require(file.bytes() == bytes);
  }
  return 0;
}
