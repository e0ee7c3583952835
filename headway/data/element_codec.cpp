#include "headway/data/element_codec.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "headway/core/checked_size.h"

namespace headway {
namespace {

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_bytes(std::string& out, std::string_view bytes) {
  put<uint64_t>(out, bytes.size());
  out.append(bytes);
}

[[noreturn]] void damaged() {
  throw Error("an element in the cache file is damaged",
              "delete the cache file; Headway makes it again");
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::string_view take_bytes(uint64_t n) {
    if (n > bytes_.size()) damaged();
    const std::string_view taken = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return taken;
  }
  template <typename T>
  T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view take_string() { return take_bytes(take<uint64_t>()); }
  size_t left_bytes() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

Tensor take_strings(Reader& in, const Shape& shape) {
  const auto count = static_cast<uint64_t>(shape.count());
  if (count > in.left_bytes() / sizeof(uint64_t)) damaged();  // each has its length
  std::vector<std::string> values(count);
  for (std::string& s : values) s = in.take_string();
  return shape.rank() == 0 ? Tensor::string(values[0]) : Tensor::strings(values).reshaped(shape);
}

Tensor take_tensor(Reader& in) {
  const uint8_t dtype_code = in.take<uint8_t>(), rank = in.take<uint8_t>();
  if (rank > Shape::kMaxRank || dtype_code > static_cast<uint8_t>(DType::kString)) damaged();
  const auto dtype = static_cast<DType>(dtype_code);
  std::vector<int64_t> dims(rank);
  for (int64_t& d : dims) d = in.take<int64_t>();
  const std::optional<uint64_t> size_bytes = checked_size_bytes(dims, dtype);
  if (!size_bytes) damaged();
  const Shape shape{std::span<const int64_t>(dims)};
  if (dtype == DType::kString) return take_strings(in, shape);
  const std::string_view bytes = in.take_bytes(*size_bytes);
  // A bool that is neither would be undefined behaviour for whoever looks at it.
  if (dtype == DType::kBool && std::ranges::any_of(bytes, [](uint8_t b) { return b > 1; })) {
    damaged();
  }
  Tensor tensor = Tensor::empty(dtype, shape);
  std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

void encode_element(const Element& element, std::string& out) {
  out.clear();
  const Origin origin = element.origin();
  put_bytes(out, origin.file);
  put<int64_t>(out, origin.offset);
  put<uint32_t>(out, element.size());
  for (const Field& f : element.fields()) {
    put_bytes(out, f.name.str());
    put<uint8_t>(out, static_cast<uint8_t>(f.value.dtype()));
    put<uint8_t>(out, f.value.rank());
    for (int i = 0; i < f.value.rank(); ++i) put<int64_t>(out, f.value.dim(i));
    if (f.value.dtype() == DType::kString) {
      for (std::string_view s : f.value.values<std::string_view>()) put_bytes(out, s);
    } else {
      out.append(static_cast<const char*>(f.value.data()),
                 f.value.count() * size_of(f.value.dtype()));
    }
  }
}

Element decode_element(std::string_view bytes) {
  Reader in(bytes);
  Element element;
  const std::string file(in.take_string());
  const auto offset = in.take<int64_t>();
  if (!file.empty()) element.set_origin(std::make_shared<const std::string>(file), offset);
  for (uint32_t n = in.take<uint32_t>(); n > 0; --n) {
    const Name name(in.take_string());
    element.append(name, take_tensor(in));
  }
  if (in.left_bytes() > 0) damaged();
  return element;
}

}  // namespace headway
