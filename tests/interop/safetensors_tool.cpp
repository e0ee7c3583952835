// Our half of safetensors_test.py: named arrays as lines of text, in and out.
//   safetensors_tool dump FILE     a line for each tensor and each entry of the metadata
//   safetensors_tool write FILE    from such lines on standard input
// "tensor NAME TYPE DIMS BYTES" and "metadata KEY VALUE": NAME, BYTES, KEY and VALUE in hexadecimal
// behind an x, TYPE as in "float32", DIMS as in "2x3" or "scalar".
#include <fmt/format.h>

#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "headway/io/records/safetensors.h"

using namespace headway;

namespace {

std::string to_hex(std::string_view bytes) {
  std::string out = "x";
  for (unsigned char c : bytes) out += fmt::format("{:02x}", c);
  return out;
}

std::string from_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 1; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

void dump(const std::string& path) {
  const Safetensors all = read_safetensors(path);
  for (const auto& [name, tensor] : all.tensors) {
    const std::string_view bytes(static_cast<const char*>(tensor.data()), tensor.size_bytes());
    std::cout << fmt::format("tensor {} {} {} {}\n", to_hex(name), name_of(tensor.dtype()),
                             tensor.shape().str(), to_hex(bytes));
  }
  for (const auto& [key, value] : all.metadata) {
    std::cout << fmt::format("metadata {} {}\n", to_hex(key), to_hex(value));
  }
}

DType dtype_called(const std::string& name) {
  for (int i = 0; i < static_cast<int>(DType::kString); ++i) {
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  throw Error("no type called " + name);
}

Shape shape_of(const std::string& text) {
  std::vector<int64_t> dims;
  std::istringstream parts(text == "scalar" ? "" : text);
  for (std::string dim; std::getline(parts, dim, 'x');) dims.push_back(std::stoll(dim));
  return Shape(dims);
}

Tensor tensor_of(const std::string& dtype, const std::string& dims, const std::string& hex) {
  Tensor tensor = Tensor::empty(dtype_called(dtype), shape_of(dims));
  const std::string bytes = from_hex(hex);
  if (static_cast<int64_t>(bytes.size()) != tensor.size_bytes()) throw Error("wrong size: " + hex);
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

void write(const std::string& path) {
  Safetensors all;
  for (std::string kind, name; std::cin >> kind >> name;) {
    std::string dtype, dims, hex;
    if (kind == "tensor" && std::cin >> dtype >> dims >> hex) {
      all.tensors.emplace_back(from_hex(name), tensor_of(dtype, dims, hex));
    } else if (kind == "metadata" && std::cin >> hex) {
      all.metadata[from_hex(name)] = from_hex(hex);
    }
  }
  write_safetensors(path, all);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 2 && args[0] == "dump") {
    dump(args[1]);
  } else if (args.size() == 2 && args[0] == "write") {
    write(args[1]);
  } else {
    std::cerr << "usage: safetensors_tool dump|write FILE\n";
    return 2;
  }
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
