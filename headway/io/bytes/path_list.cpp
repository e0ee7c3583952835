#include "headway/io/bytes/path_list.h"

#include <algorithm>
#include <cstring>

namespace headway {
namespace {

constexpr unsigned char kLongName = 0xff;

void put_name(std::string& names, std::string_view name) {
  const auto length = static_cast<uint32_t>(name.size());
  if (length < kLongName) {
    names.push_back(static_cast<char>(length));
  } else {
    names.push_back(static_cast<char>(kLongName));
    names.append(reinterpret_cast<const char*>(&length), sizeof length);
  }
  names.append(name);
}

// The name at `at`, which moves behind it.
std::string_view take_name(const char*& at) {
  uint32_t length = static_cast<unsigned char>(*at++);
  if (length == kLongName) {
    std::memcpy(&length, at, sizeof length);
    at += sizeof length;
  }
  const std::string_view name(at, length);
  at += length;
  return name;
}

}  // namespace

void PathList::append(std::string_view folder, std::string_view name) {
  if (runs_.empty() || folders_[runs_.back().folder] != folder) {
    runs_.push_back({size_, folder_number(folder)});
  }
  if (size_ % kChunk == 0) {
    if (!chunks_.empty()) chunks_.back().names.shrink_to_fit();
    chunks_.emplace_back();
  }
  Chunk& chunk = chunks_.back();
  if (size_ % kStride == 0) chunk.starts.push_back(static_cast<uint32_t>(chunk.names.size()));
  put_name(chunk.names, name);
  ++size_;
}

uint32_t PathList::folder_number(std::string_view folder) {
  const auto [it, fresh] = numbers_.try_emplace(std::string(folder), folders_.size());
  if (fresh) folders_.emplace_back(folder);
  return it->second;
}

std::string_view PathList::name(size_t i) const {
  const Chunk& chunk = chunks_[i / kChunk];
  const char* at = chunk.names.data() + chunk.starts[i % kChunk / kStride];
  for (size_t k = i % kStride; k > 0; --k) take_name(at);
  return take_name(at);
}

const std::string& PathList::folder(size_t i) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), i,
                                      [](size_t path, const Run& run) { return path < run.first; });
  return folders_[std::prev(after)->folder];
}

void PathList::path(size_t i, std::string& out) const {
  out = folder(i);
  if (!out.empty() && out.back() != '/') out += '/';
  out += name(i);
}

size_t PathList::memory_bytes() const {
  size_t total = runs_.capacity() * sizeof(Run) + chunks_.capacity() * sizeof(Chunk);
  for (const Chunk& chunk : chunks_) {
    total += chunk.names.capacity() + chunk.starts.capacity() * sizeof(uint32_t);
  }
  constexpr size_t kMapNode = 64;
  for (const std::string& folder : folders_)
    total += 2 * folder.capacity() + sizeof folder + kMapNode;
  return total;
}

}  // namespace headway
