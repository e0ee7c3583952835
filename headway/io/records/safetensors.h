#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headway/core/tensor.h"

namespace headway {

// Named arrays in one file, in the format Python's `safetensors` reads: a JSON header, then the
// values, little-endian.
struct Safetensors {
  std::vector<std::pair<std::string, Tensor>> tensors;  // in the file's order; no strings
  std::map<std::string, std::string> metadata;

  const Tensor& operator[](const std::string& name) const;  // Error lists near names when missing
  const Tensor* find(const std::string& name) const;
};

// The file appears whole or not at all, and is on the device when this returns. Values are written
// from where they are: nothing is copied. A hash over everything goes into the metadata
// ("headway.xxh3").
void write_safetensors(const std::string& path, const Safetensors& content);

// Checks the hash when the file has one, and every size and offset in any case. Throws SampleError
// with path and offset of what is wrong.
Safetensors read_safetensors(const std::string& path);
// Only the metadata: reads the header, checks no hash.
std::map<std::string, std::string> read_safetensors_metadata(const std::string& path);

}  // namespace headway
