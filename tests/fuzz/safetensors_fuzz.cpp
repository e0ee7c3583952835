// Any bytes as a safetensors file: no crash, no hang, no false claim.
// The first byte chooses: bit 0 to make the length of the header right first, so that the rest is
// JSON and as many zeros as the second byte says; bit 1 to make the hash right, where there is one;
// bit 2 to nest the JSON, as deep as the second byte says times a thousand.
#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "headway/core/error.h"
#include "headway/io/records/safetensors.h"
#include "tests/fuzz/memory_file.h"

using namespace headway;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

std::string nested(const std::string& json, size_t depth) {
  return R"({"w":)" + std::string(depth, '[') + json + std::string(depth, ']') + "}";
}

std::string with_length(std::string_view header, size_t zeros) {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(header).append(zeros, '\0');
}

void make_hash_right(std::string& bytes) {
  const std::string key = "\"headway.xxh3\":\"";
  const size_t found = bytes.find(key), place = found + key.size();
  if (found == std::string::npos || bytes.size() - place < 32) return;
  bytes.replace(place, 32, 32, '0');
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  bytes.replace(place, 32, fmt::format("{:016x}{:016x}", hash.high64, hash.low64));
}

void check(const Safetensors& content, const std::string& path, size_t file_bytes) {
  std::set<std::string> names;
  size_t total = 0;
  for (const auto& [name, tensor] : content.tensors) {
    require(names.insert(name).second && content.find(name) == &tensor);
    require(tensor.size_bytes() == tensor.shape().count() * size_of(tensor.dtype()));
    require(tensor.same(Tensor(tensor)));  // looks at every value
    total += static_cast<size_t>(tensor.size_bytes());
  }
  require(total + sizeof(uint64_t) <= file_bytes);
  require(read_safetensors_metadata(path) == content.metadata);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[0] & 4) bytes = nested(bytes, size_t{1000} * data[1]);
  if (data[0] & 1) bytes = with_length(bytes, data[1]);
  if (data[0] & 2) make_hash_right(bytes);
  const MemoryFile file(bytes);
  try {
    check(read_safetensors(file.path()), file.path(), bytes.size());
  } catch (const SampleError& e) {
    require(!e.reason().empty() && !e.hint().empty());
  }
  return 0;
}
