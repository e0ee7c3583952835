#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "headway/core/element.h"
#include "headway/core/sync.h"

namespace headway {

// Elements by number, kept in memory or in a file. Thread-safe. Shared by all iterations of a
// dataset, so the second finds what the first has stored, also when that one stopped half-way.
class CacheStore {
 public:
  virtual ~CacheStore() = default;
  virtual std::optional<Element> get(int64_t i) = 0;
  virtual bool put(int64_t i, const Element& element) = 0;  // false: it was there
  // All elements are in: their number. Before: nothing.
  virtual std::optional<int64_t> complete() = 0;
  virtual void set_complete(int64_t count) = 0;
  virtual int64_t memory_bytes() = 0;
};

std::shared_ptr<CacheStore> memory_cache();

// One file: a header with `description` (another pipeline's cache is refused), then elements, each
// with its number, length and CRC, appended as they come. A cut or damaged tail is dropped when the
// file is opened, what is before stays valid. A file that does not begin as a cache of this version
// is refused and left as it is; an empty one is taken.
std::shared_ptr<CacheStore> file_cache(const std::string& path, const std::string& description);

}  // namespace headway
