#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headway/core/tensor.h"
#include "headway/io/bytes/file.h"
#include "headway/io/records/safetensors.h"

// The front of a safetensors file: u64 length, little-endian, and so many bytes of JSON, padded
// with spaces. Only safetensors.cpp includes this.
namespace headway::safetensors {

// Both stand in the metadata of every file written here, so that damage to the name of one is
// noticed by the other.
inline constexpr std::string_view kHash = "headway.xxh3";
inline constexpr std::string_view kFormat = "headway.format";
inline constexpr size_t kHashDigits = 32;
inline constexpr const char* kDamagedHint =
    "the file is incomplete, damaged or still being written: copy or make it again";

struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  uint64_t offset = 0;  // in the file
  uint64_t size_bytes = 0;
};

struct Header {
  std::string bytes;  // length and JSON, as in the file; the values follow
  std::map<std::string, std::string> metadata;
  std::vector<Entry> entries;  // in the order of their values, which they cover without a gap
};

// Checks everything that can be known without the values. Throws SampleError.
Header read_header(const File& file);

// The bytes for `content`, a multiple of 64 of them, with zeros for the hash. Throws Error for what
// the format cannot hold.
std::string make_header(const Safetensors& content);

// Where the digits of the hash begin in the header; npos when they are not there.
size_t place_of_hash(std::string_view header, std::string_view digits);

}  // namespace headway::safetensors
