#include "headway/io/records/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>

#include "headway/core/checked_size.h"
#include "headway/core/json.h"

namespace headway::safetensors {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "values are written as they lie here");

constexpr size_t kLengthBytes = sizeof(uint64_t);
constexpr size_t kAlignment = 64;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // what Python's reader takes
constexpr size_t kMaxDepth = 8;                    // all tensors, one of them, its shape: 3
constexpr const char* kOwnFormat = "1";
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName kTypes[] = {
    {DType::kUInt8, "U8"},  {DType::kUInt16, "U16"},  {DType::kInt32, "I32"},
    {DType::kInt64, "I64"}, {DType::kFloat32, "F32"}, {DType::kFloat64, "F64"},
    {DType::kBool, "BOOL"},
};

std::optional<DType> dtype_called(std::string_view name) {
  for (const TypeName& type : kTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

std::string_view name_in_file(DType dtype) {
  for (const TypeName& type : kTypes) {
    if (type.dtype == dtype) return type.name;
  }
  return "";
}

std::string quoted(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    throw Error(fmt::format("safetensors: a name or text of {} bytes is not UTF-8", text.size()),
                "write names and metadata in UTF-8");
  }
}

// Turns the JSON into a Header; knows where in the file it stands, for the errors.
class Parser {
 public:
  Parser(const std::string& path, uint64_t file_bytes, Header& header)
      : path_(path), data_bytes_(file_bytes - header.bytes.size()), header_(header) {}

  void parse() {
    const Json json = parsed_header();
    if (!json.is_object()) fail(kLengthBytes, "the header is not a JSON object");
    for (const auto& [name, value] : json.items()) {
      if (name == kMetadata) {
        take_metadata(value);
      } else {
        header_.entries.push_back(entry_of(name, value));
      }
    }
    put_in_order();
    check_coverage();
    check_format();
  }

 private:
  Json parsed_header() {
    const auto note = [this](int depth, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::key && depth == 1) note_name(parsed.get<std::string>());
      return true;
    };
    const std::string_view text = std::string_view(header_.bytes).substr(kLengthBytes);
    try {
      return parse_json(text, {.max_bytes = kMaxHeaderBytes, .max_depth = kMaxDepth}, note);
    } catch (const JsonError& e) {
      fail(kLengthBytes + e.byte(), "the header holds " + e.problem());
    }
  }

  void note_name(const std::string& name) {
    if (!order_.emplace(name, order_.size()).second) {
      fail(place_of(name), fmt::format("the name '{}' is used twice", name));
    }
  }

  void take_metadata(const Json& json) {
    if (!json.is_object()) fail(place_of(kMetadata), "the metadata is not a JSON object");
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string()) {
        fail(place_of(key), fmt::format("the metadata '{}' is not a string", key));
      }
      header_.metadata[key] = value.get<std::string>();
    }
  }

  Entry entry_of(const std::string& name, const Json& json) const {
    const auto wrong = [&](const std::string& what, const char* hint = kDamagedHint) {
      fail(place_of(name), fmt::format("tensor '{}' {}", name, what), hint);
    };
    const auto field = [&](const char* key) {
      return json.is_object() && json.contains(key) ? json[key] : Json();
    };
    const Json type = field("dtype"), offsets = field("data_offsets");
    if (!type.is_string()) wrong("has no dtype");
    const std::optional<DType> dtype = dtype_called(type.get<std::string>());
    if (!dtype) {
      wrong("is of type " + type.get<std::string>() + ", which Headway does not hold",
            "save it as one of U8, U16, I32, I64, F32, F64, BOOL");
    }
    const std::optional<std::vector<int64_t>> shape = whole_numbers(field("shape"));
    if (!shape) wrong("has no shape");
    if (shape->size() > Shape::kMaxRank) {
      wrong(fmt::format("has {} dimensions; at most {} are held", shape->size(), Shape::kMaxRank),
            "flatten some dimensions before saving it");
    }
    const std::optional<std::vector<int64_t>> range = whole_numbers(offsets);
    if (!range || range->size() != 2 || range->at(0) > range->at(1)) wrong("has no place");
    const uint64_t begin = range->at(0), end = range->at(1);
    if (end > data_bytes_) {
      wrong(fmt::format("ends at byte {} of the values; the file has {}", end, data_bytes_));
    }
    if (checked_size_bytes(*shape, *dtype) != end - begin) {
      wrong(fmt::format("is {} of {} but has {} bytes", Shape(*shape).str(), name_of(*dtype),
                        end - begin));
    }
    return {name, *dtype, Shape(*shape), header_.bytes.size() + begin, end - begin};
  }

  static std::optional<std::vector<int64_t>> whole_numbers(const Json& json) {
    if (!json.is_array()) return std::nullopt;
    std::vector<int64_t> numbers;
    for (const Json& number : json) {
      if (!number.is_number_unsigned() || number.get<uint64_t>() > uint64_t{INT64_MAX}) {
        return std::nullopt;
      }
      numbers.push_back(number.get<int64_t>());
    }
    return numbers;
  }

  void put_in_order() {
    std::sort(header_.entries.begin(), header_.entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.offset != b.offset) return a.offset < b.offset;
      if (a.size_bytes != b.size_bytes) return a.size_bytes < b.size_bytes;
      return order_.at(a.name) < order_.at(b.name);
    });
  }

  void check_coverage() const {
    uint64_t at = header_.bytes.size();
    for (const Entry& entry : header_.entries) {
      if (entry.offset != at) {
        fail(std::min(entry.offset, at),
             fmt::format("the values of tensor '{}' {}", entry.name,
                         entry.offset < at ? "overlap others" : "follow a gap"));
      }
      at += entry.size_bytes;
    }
    if (at != header_.bytes.size() + data_bytes_)
      fail(at, "there are bytes that belong to no tensor");
  }

  void check_format() const {
    const std::string key(kFormat);
    const auto format = header_.metadata.find(key);
    if (format == header_.metadata.end()) return;  // not written by us
    if (format->second != kOwnFormat) {
      fail(place_of(key),
           fmt::format("written in Headway's format {}; this one reads {}", format->second,
                       kOwnFormat),
           "read it with the Headway release that wrote it");
    }
    if (!header_.metadata.contains(std::string(kHash))) {
      fail(place_of(key), "the header has lost its hash");
    }
  }

  size_t place_of(const std::string& name) const {
    const size_t found = header_.bytes.find('"' + name, kLengthBytes);
    return found == std::string::npos ? kLengthBytes : found;
  }

  [[noreturn]] void fail(uint64_t offset, const std::string& what,
                         const char* hint = kDamagedHint) const {
    throw SampleError({path_, static_cast<int64_t>(offset)}, "safetensors: " + what, hint);
  }

  const std::string& path_;
  uint64_t data_bytes_;
  Header& header_;
  std::map<std::string, size_t> order_;
};

std::string metadata_text(const Safetensors& content) {
  std::map<std::string, std::string> metadata = content.metadata;
  metadata[std::string(kHash)] = std::string(kHashDigits, '0');
  metadata[std::string(kFormat)] = kOwnFormat;
  std::string text;
  for (const auto& [key, value] : metadata) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", quoted(key), quoted(value));
  }
  return text;
}

void check_can_be_written(const Safetensors& content) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : content.tensors) {
    if (tensor.dtype() == DType::kString) {
      throw Error(
          fmt::format("safetensors: tensor '{}' holds strings, which cannot be saved", name),
          "save text as metadata, or bytes as a tensor of uint8");
    }
    if (name == kMetadata) {
      throw Error(
          fmt::format("safetensors: no tensor may be named '{}', which means the metadata", name),
          "give this tensor another name");
    }
    if (!names.insert(name).second) {
      throw Error(fmt::format("safetensors: two tensors have the name '{}'", name),
                  "give every tensor a name of its own");
    }
  }
}

}  // namespace

Header read_header(const File& file) {
  const uint64_t file_bytes = file.size_bytes();
  uint64_t length = 0;
  file.pread_exact(0, reinterpret_cast<char*>(&length), sizeof length);
  if (length > std::min(file_bytes - kLengthBytes, kMaxHeaderBytes)) {
    throw SampleError(
        {file.path(), 0},
        fmt::format("safetensors: the header claims {} bytes, but at most {} are possible in this "
                    "file of {} bytes",
                    length, std::min(file_bytes - kLengthBytes, kMaxHeaderBytes), file_bytes),
        std::string("if this should be a safetensors file: ") + kDamagedHint);
  }
  Header header;
  header.bytes.resize(kLengthBytes + length);
  file.pread_exact(0, header.bytes.data(), header.bytes.size());
  Parser(file.path(), file_bytes, header).parse();
  return header;
}

std::string make_header(const Safetensors& content) {
  check_can_be_written(content);
  std::string bytes(kLengthBytes, '\0');
  bytes += fmt::format("{{\"{}\":{{{}}}", kMetadata, metadata_text(content));
  int64_t begin = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const Shape shape = tensor.shape();
    const int64_t end = begin + tensor.size_bytes();
    bytes += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                         quoted(name), name_in_file(tensor.dtype()),
                         fmt::join(shape.begin(), shape.end(), ","), begin, end);
    begin = end;
  }
  bytes += '}';
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = bytes.size() - kLengthBytes;
  if (length > kMaxHeaderBytes) {
    throw Error(
        fmt::format(
            "safetensors: names and metadata take {} bytes, but at most {} can be read back",
            length, kMaxHeaderBytes),
        "shorten the metadata, or write several files");
  }
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

size_t place_of_hash(std::string_view header, std::string_view digits) {
  const std::string key = fmt::format("\"{}\"", kHash);
  const size_t found = header.find(key, kLengthBytes);
  return found == std::string_view::npos ? found : header.find(digits, found + key.size());
}

}  // namespace headway::safetensors
