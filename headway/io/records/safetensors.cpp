#include "headway/io/records/safetensors.h"

#include <fmt/format.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "headway/io/bytes/output_file.h"
#include "headway/io/records/safetensors_header.h"

namespace headway {
namespace {

using safetensors::Entry;
using safetensors::Header;

class Hash {
 public:
  Hash() { XXH3_128bits_reset(&state_); }
  void add(std::string_view bytes) { XXH3_128bits_update(&state_, bytes.data(), bytes.size()); }
  std::string digits() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  XXH3_state_t state_;
};

std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.size_bytes())};
}

// The hash the file claims, if it claims one, against the one its bytes give.
class HashCheck {
 public:
  explicit HashCheck(const Header& header) {
    const auto found = header.metadata.find(std::string(safetensors::kHash));
    if (found == header.metadata.end()) return;
    claimed_ = found->second;
    place_ = safetensors::place_of_hash(header.bytes, *claimed_);
    std::string zeroed = header.bytes;
    if (place_ != std::string::npos) {
      zeroed.replace(place_, claimed_->size(), claimed_->size(), '0');
    }
    hash_.add(zeroed);
  }

  void add(std::string_view bytes) {
    if (claimed_) hash_.add(bytes);
  }

  void finish(const std::string& path) const {
    if (!claimed_ || *claimed_ == hash_.digits()) return;
    throw SampleError(
        {path, static_cast<int64_t>(place_)},
        fmt::format("safetensors: the content does not match its checksum (stored {}, computed {})",
                    *claimed_, hash_.digits()),
        "the file is damaged: copy or make it again. If another tool changed it on purpose, remove "
        "\"headway.xxh3\" and \"headway.format\" from its metadata");
  }

 private:
  std::optional<std::string> claimed_;
  size_t place_ = 0;
  Hash hash_;
};

// Large tensors on large pages: half the time to read a file went into faults of small ones.
void ask_for_large_pages(void* data, size_t size) {
  constexpr size_t kLargePage = size_t{2} << 20;
  void* begin = data;
  size_t room = size;
  if (!std::align(kLargePage, kLargePage, begin, room)) return;
  ::madvise(begin, room / kLargePage * kLargePage, MADV_HUGEPAGE);
}

// Hashed piece by piece, while a piece is still in the cache.
Tensor read_tensor(const File& file, const Entry& entry, HashCheck& check) {
  constexpr size_t kPiece = 256 * 1024;
  Tensor tensor = Tensor::empty(entry.dtype, entry.shape);
  char* into = static_cast<char*>(tensor.data());
  ask_for_large_pages(into, entry.size_bytes);
  for (size_t at = 0; at < entry.size_bytes; at += kPiece) {
    const size_t size = std::min<size_t>(kPiece, entry.size_bytes - at);
    file.pread_exact(entry.offset + at, into + at, size);
    check.add({into + at, size});
  }
  return tensor;
}

// A bool that is neither 0 nor 1 would be undefined behaviour for whoever looks at it.
void check_bools(const File& file, const Entry& entry, const Tensor& tensor) {
  if (entry.dtype != DType::kBool) return;
  const std::string_view bytes = bytes_of(tensor);
  const auto bad = std::find_if(bytes.begin(), bytes.end(), [](uint8_t b) { return b > 1; });
  if (bad == bytes.end()) return;
  throw SampleError(
      {file.path(), static_cast<int64_t>(entry.offset) + (bad - bytes.begin())},
      fmt::format("safetensors: tensor '{}' is of type BOOL but holds the byte {}, not 0 or 1",
                  entry.name, static_cast<uint8_t>(*bad)),
      safetensors::kDamagedHint);
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t swapped = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({swapped, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest_names(const Safetensors& all, const std::string& wanted) {
  constexpr size_t kShown = 3;
  std::vector<std::pair<size_t, std::string_view>> names;
  for (const auto& [name, tensor] : all.tensors) names.emplace_back(distance(name, wanted), name);
  const size_t shown = std::min(kShown, names.size());
  std::partial_sort(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), names.end());
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i].second);
  }
  return text;
}

}  // namespace

const Tensor* Safetensors::find(const std::string& name) const {
  for (const auto& [own, tensor] : tensors) {
    if (own == name) return &tensor;
  }
  return nullptr;
}

const Tensor& Safetensors::operator[](const std::string& name) const {
  if (const Tensor* found = find(name)) return *found;
  throw Error(
      fmt::format("safetensors: no tensor is named '{}', but {} others are", name, tensors.size()),
      tensors.empty() ? "" : "correct the name; nearest: " + nearest_names(*this, name));
}

void write_safetensors(const std::string& path, const Safetensors& content) {
  std::string header = safetensors::make_header(content);
  const std::string zeros(safetensors::kHashDigits, '0');
  Hash hash;
  hash.add(header);
  for (const auto& [name, tensor] : content.tensors) hash.add(bytes_of(tensor));
  header.replace(safetensors::place_of_hash(header, zeros), zeros.size(), hash.digits());

  AtomicFile file(path);
  file.write(header);
  for (const auto& [name, tensor] : content.tensors) file.write(bytes_of(tensor));
  file.commit();
}

Safetensors read_safetensors(const std::string& path) {
  const File file(path);
  file.advise(File::Access::kSequential);
  Header header = safetensors::read_header(file);
  HashCheck check(header);
  Safetensors content;
  for (const Entry& entry : header.entries) {
    Tensor tensor = read_tensor(file, entry, check);
    check_bools(file, entry, tensor);
    content.tensors.emplace_back(entry.name, std::move(tensor));
  }
  check.finish(path);
  content.metadata = std::move(header.metadata);
  return content;
}

std::map<std::string, std::string> read_safetensors_metadata(const std::string& path) {
  return safetensors::read_header(File(path)).metadata;
}

}  // namespace headway
