#include "headway/probe/python/python_objects.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "headway/probe/source/source_lines.h"

namespace headway {
namespace {

constexpr size_t kMostCodes = 20000, kMostTypes = 1000;  // remembered; beyond that read again
constexpr size_t kMostCodeBytes = 32 << 20;              // that are remembered, or new in one look
constexpr int64_t kLongestTable = 1 << 20, kLongestText = 1 << 20, kMostLocals = 256;
constexpr size_t kLongestName = 64, kMostNames = 5000;

// Of an object: its type; of one with a length: that.
constexpr TargetField<uint64_t> kType = 8;
constexpr TargetField<int64_t> kLength = 16;
constexpr TargetField<uint32_t> kTextState = 32;
constexpr TargetField<uint64_t> kTypeName = 24;
constexpr TargetField<uint64_t> kTupleItems = 24;
constexpr TargetField<char> kBytes = 32;

void append_utf8(std::string& out, uint32_t c) {
  const bool is_character = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
  if (!is_character) c = 0xfffd;
  const auto tail = [&](int shift) { out += char(0x80 | (c >> shift & 63)); };
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += char(0xc0 | c >> 6), tail(0);
  } else if (c < 0x10000) {
    out += char(0xe0 | c >> 12), tail(6), tail(0);
  } else {
    out += char(0xf0 | c >> 18), tail(12), tail(6), tail(0);
  }
}

}  // namespace

size_t PythonCode::bytes() const {
  size_t sum = sizeof *this + file.size() + function.size() + lines.size();
  for (const std::string& name : locals) sum += sizeof name + name.size();
  return sum;
}

std::optional<std::string> PythonObjects::text(uint64_t object, size_t limit) const {
  char head[40];
  if (object == 0 || !memory_.read(object, head, sizeof head)) return std::nullopt;
  const TargetBytes bytes(head, sizeof head);
  const int64_t length = *bytes.get(kLength);
  const uint32_t state = *bytes.get(kTextState);
  const uint32_t width = state >> 2 & 7;  // of a character
  const bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
  if (length < 0 || length > kLongestText || !compact || (width != 1 && width != 2 && width != 4))
    return std::nullopt;
  const auto count = std::min<size_t>(static_cast<size_t>(length), limit);
  std::string raw(count * width, '\0');
  const TargetField<char> from = ascii ? offsets_.text_ascii : offsets_.text_compact;
  if (!memory_.read(from.in(object), raw.data(), raw.size())) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < count && out.size() < limit; ++i) {
    uint32_t c = 0;
    std::memcpy(&c, raw.data() + i * width, width);
    append_utf8(out, c);
  }
  return out;
}

std::string PythonObjects::type_name(uint64_t type) {
  const auto known = type_names_.find(type);
  if (known != type_names_.end()) return known->second;
  const auto name = memory_.get(type, kTypeName);
  const std::string text = name ? memory_.c_string(*name, kLongestName).value_or("") : "";
  if (type_names_.size() > kMostTypes) type_names_.clear();
  if (!text.empty()) type_names_[type] = text;
  return text;
}

const std::string& PythonObjects::name_at(uint64_t object) {
  const auto known = names_.find(object);
  if (known != names_.end()) return known->second;
  if (names_.size() > kMostNames) names_.clear();
  return names_[object] = text(object, kLongestName).value_or("");
}

std::optional<int64_t> PythonObjects::small_int(uint64_t object) const {
  char copy[32];
  if (!memory_.read(object, copy, sizeof copy)) return std::nullopt;
  const TargetBytes head(copy, sizeof copy);
  // Up to 3.11 the sign and number of digits; from 3.12 a tag with the count above three bits.
  const int64_t size = *head.get(kLength);
  const bool tagged(offsets_.gil);
  const bool negative = tagged ? (size & 3) == 2 : size < 0;
  const uint64_t digits = tagged     ? uint64_t(size) >> 3
                          : negative ? -uint64_t(size)
                                     : uint64_t(size);
  if (digits > 2) return std::nullopt;
  int64_t value = digits > 0 ? *head.at<uint32_t>(24) : 0;
  if (digits > 1) value |= int64_t(*head.at<uint32_t>(28)) << 30;
  return negative ? -value : value;
}

// A dict: its keys at 32, and at 40 its values, unless they are stored with the keys.
PythonObjects::Entries PythonObjects::entries_of(uint64_t dict, int64_t most) const {
  constexpr TargetField<uint64_t> kKeys = 32, kValues = 40;
  const uint64_t keys = memory_.get(dict, kKeys).value_or(0);
  const uint64_t values = memory_.get(dict, kValues).value_or(0);
  return split_entries(keys, values != 0 ? values + offsets_.values_header : 0, most);
}

// Keys from 3.11 on: log2 of the index's bytes at 9, kind at 10, number of entries at 24, the index
// at 32, then the entries: (hash,) key, value. Before 3.11: the size of the index at 8, entries at
// 32, the index at 40.
PythonObjects::Entries PythonObjects::split_entries(uint64_t keys, uint64_t values,
                                                    int64_t most) const {
  constexpr TargetField<unsigned char> kLogOfIndex = 9, kKind = 10;
  constexpr TargetField<int64_t> kEntries = 24, kSizeBefore = 8, kEntriesBefore = 32;
  constexpr int kLargestLog = 24;
  constexpr int64_t kLargestSize = 1 << kLargestLog;
  const bool old = !offsets_.code_bytes;
  char copy[40];
  if (keys == 0 || !memory_.read(keys, copy, sizeof copy)) return {};
  const TargetBytes head(copy, sizeof copy);
  const int64_t count = *head.get(old ? kEntriesBefore : kEntries);
  const int log = *head.get(kLogOfIndex);
  const int64_t size = *head.get(kSizeBefore);
  if (count <= 0 || count > most || (old ? size <= 0 || size > kLargestSize : log > kLargestLog))
    return {};
  const uint64_t width = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;
  const uint64_t index = old ? 40 + width * static_cast<uint64_t>(size) : 32 + (uint64_t{1} << log);
  const size_t stride = old || *head.get(kKind) == 0 ? 3 : 2;
  std::vector<uint64_t> entries(static_cast<size_t>(count) * stride);
  if (!memory_.read(keys + index, entries.data(), entries.size() * 8)) return {};
  std::vector<uint64_t> apart(values != 0 ? static_cast<size_t>(count) : 0);
  if (values != 0 && !memory_.read(values, apart.data(), apart.size() * 8)) return {};
  Entries out;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const uint64_t key = entries[i * stride + stride - 2];
    const uint64_t value = values != 0 ? apart[i] : entries[i * stride + stride - 1];
    if (key != 0 && value != 0) out.emplace_back(key, value);
  }
  return out;
}

bool PythonObjects::is_code_type(uint64_t type) {
  if (type == code_type_ && type != 0) return true;
  if (code_type_ != 0 || type_name(type) != "code") return false;
  code_type_ = type;
  return true;
}

std::optional<PythonObjects::Known> PythonObjects::parts_of(TargetBytes header) const {
  const auto file = header.get(offsets_.code_file), lines = header.get(offsets_.code_lines);
  const auto name =
      header.get(offsets_.code_qualname ? offsets_.code_qualname : offsets_.code_name);
  const auto first_line = header.get(offsets_.code_first_line);
  if (!file || !lines || !name || !first_line) return std::nullopt;
  return Known{.file = *file, .name = *name, .lines = *lines, .first_line = *first_line};
}

std::shared_ptr<const PythonCode> PythonObjects::code_at(uint64_t address, TargetBytes header,
                                                         bool& is_new) {
  auto now = parts_of(header);
  if (!now || !is_code_type(header.get(kType).value_or(0))) return nullptr;
  const auto found = codes_.find(address);
  if (found != codes_.end()) {
    const Known& known = found->second;
    if (known.file == now->file && known.name == now->name && known.lines == now->lines &&
        known.first_line == now->first_line)
      return known.code;
    known_bytes_ -= known.code->bytes();
    codes_.erase(found);
  }
  is_new = true;
  if (new_bytes_ > kMostCodeBytes) return nullptr;
  now->code = read_code(*now, header.get(offsets_.code_names).value_or(0));
  if (!now->code) return nullptr;
  if (codes_.size() >= kMostCodes || known_bytes_ > kMostCodeBytes)
    codes_.clear(), known_bytes_ = 0;
  known_bytes_ += now->code->bytes();
  new_bytes_ += now->code->bytes();
  codes_[address] = *now;
  return now->code;
}

std::shared_ptr<const PythonCode> PythonObjects::read_code(const Known& parts,
                                                           uint64_t names) const {
  const auto file = text(parts.file), function = text(parts.name);
  const auto size = memory_.get(parts.lines, kLength);
  if (!file || !function || !size || *size < 0 || *size > kLongestTable) return nullptr;
  auto code = std::make_shared<PythonCode>();
  code->file = *file, code->function = *function;
  code->users = is_users_file(code->file);
  code->id = std::hash<std::string>()(code->file + "\n" + code->function);
  code->first_line = parts.first_line;
  code->lines.resize(static_cast<size_t>(*size));
  if (!memory_.read(kBytes.in(parts.lines), code->lines.data(), code->lines.size())) return nullptr;
  const int64_t count = std::min(memory_.get(names, kLength).value_or(0), kMostLocals);
  std::vector<uint64_t> items(count > 0 ? static_cast<size_t>(count) : 0);
  if (!memory_.read(kTupleItems.in(names), items.data(), items.size() * sizeof(uint64_t)))
    return code;
  for (const uint64_t item : items) code->locals.push_back(text(item, kLongestName).value_or(""));
  return code;
}

}  // namespace headway
