// Our half of records_test.py: tf.Examples as lines of text, in and out.
//   records_tool dump  FILE                    a line for each record
//   records_tool write FILE none|gzip|zlib [append]    records from lines on standard input
//   records_tool parse FILE FEATURE...         a line for each record: the tensors asked for
// A line is features joined by spaces; a feature is NAME:KIND:COUNT:VALUE,VALUE... with the name
// and strings (s) in hexadecimal, floats (f) as their bits in hexadecimal, int64 (i) in decimal. A
// FEATURE asked for is NAME:KIND:DIMS[:DEFAULT] or NAME:KIND:*; DIMS is "2x3", or "" for a scalar.
#include <fmt/format.h>

#include <bit>
#include <iostream>
#include <string>
#include <vector>

#include "headway/io/records/example.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_writer.h"

using namespace headway;

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string to_hex(std::string_view bytes) {
  std::string out;
  for (unsigned char c : bytes) out += fmt::format("{:02x}", c);
  return out;
}

std::string from_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

float float_of(const std::string& hex) {
  return std::bit_cast<float>(static_cast<uint32_t>(std::stoul(hex, nullptr, 16)));
}

DType dtype_of(const std::string& kind) {
  return kind == "i" ? DType::kInt64 : kind == "f" ? DType::kFloat32 : DType::kString;
}

std::string values_of(const Tensor& tensor) {
  std::string out;
  bool first = true;
  const auto each = [&](auto values, auto show) {
    for (const auto& value : values) {
      if (!first) out += ',';
      first = false;
      out += show(value);
    }
  };
  switch (tensor.dtype()) {
    case DType::kInt64:
      each(tensor.values<int64_t>(), [](int64_t v) { return fmt::format("{}", v); });
      break;
    case DType::kFloat32:
      each(tensor.values<float>(),
           [](float v) { return fmt::format("{:08x}", std::bit_cast<uint32_t>(v)); });
      break;
    default: each(tensor.values<std::string_view>(), [](std::string_view v) { return to_hex(v); });
  }
  return out;
}

std::string show(const std::string& name, const Tensor& tensor) {
  const char kind = tensor.dtype() == DType::kInt64     ? 'i'
                    : tensor.dtype() == DType::kFloat32 ? 'f'
                                                        : 's';
  return fmt::format("{}:{}:{}:{}", to_hex(name), kind, tensor.count(), values_of(tensor));
}

void dump(const std::string& path) {
  TFRecordReader reader(path);
  for (Record record; reader.next(record);) {
    std::string line;
    for (const Feature& feature : parse_all(record.bytes, record.block)) {
      line += line.empty() ? "" : " ";
      line += feature.dtype ? show(feature.name, feature.values) : to_hex(feature.name) + ":-:0:";
    }
    std::cout << line << '\n';
  }
}

void add_feature(ExampleWriter& writer, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string name = from_hex(parts[0]);
  const std::vector<std::string> values =
      parts[2] == "0" ? std::vector<std::string>{} : split(parts[3], ',');
  if (parts[1] == "i") {
    std::vector<int64_t> numbers;
    for (const std::string& value : values) numbers.push_back(std::stoll(value));
    writer.int64(name, numbers);
  } else if (parts[1] == "f") {
    std::vector<float> numbers;
    for (const std::string& value : values) numbers.push_back(float_of(value));
    writer.float32(name, numbers);
  } else {
    std::vector<std::string> strings;
    for (const std::string& value : values) strings.push_back(from_hex(value));
    writer.bytes(name, std::vector<std::string_view>(strings.begin(), strings.end()));
  }
}

void write(const std::string& path, const std::string& compression, bool append) {
  TFRecordWriter writer(path, {.compression = compression == "gzip"   ? Compression::kGzip
                                              : compression == "zlib" ? Compression::kZlib
                                                                      : Compression::kNone,
                               .append = append});
  ExampleWriter example;
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.empty()) {
      for (const std::string& feature : split(line, ' ')) add_feature(example, feature);
    }
    writer.write(example.finish());
  }
  writer.close();
}

Tensor default_of(const std::string& kind, const std::string& text) {
  if (kind == "i") return Tensor::scalar<int64_t>(std::stoll(text));
  if (kind == "f") return Tensor::scalar<float>(float_of(text));
  return Tensor::string(from_hex(text));
}

FeatureSpec spec_of(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string name = from_hex(parts[0]);
  if (parts[2] == "*") return var_len(name, dtype_of(parts[1]));
  std::vector<int64_t> dims;
  if (!parts[2].empty()) {
    for (const std::string& dim : split(parts[2], 'x')) dims.push_back(std::stoll(dim));
  }
  FeatureSpec spec = fixed_len(name, dtype_of(parts[1]), Shape(dims));
  if (parts.size() > 3) spec.default_value = default_of(parts[1], parts[3]);
  return spec;
}

void parse(const std::string& path, std::vector<std::string> specs) {
  std::vector<FeatureSpec> features;
  for (const std::string& spec : specs) features.push_back(spec_of(spec));
  const ExampleParser parser(features);
  TFRecordReader reader(path);
  std::vector<Tensor> tensors;
  for (Record record; reader.next(record);) {
    try {
      parser.parse(record.bytes, record.block, tensors);
      std::string line;
      for (size_t i = 0; i < tensors.size(); ++i) {
        line += (i == 0 ? "" : " ") + show(features[i].name, tensors[i]);
      }
      std::cout << line << '\n';
    } catch (const SampleError&) {
      std::cout << "error\n";
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() >= 2 && args[0] == "dump") {
    dump(args[1]);
  } else if (args.size() >= 3 && args[0] == "write") {
    write(args[1], args[2], args.size() > 3);
  } else if (args.size() >= 2 && args[0] == "parse") {
    parse(args[1], {args.begin() + 2, args.end()});
  } else {
    std::cerr << "usage: records_tool dump|write|parse FILE ...\n";
    return 2;
  }
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
