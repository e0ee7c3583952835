#include "headway/probe/python/python_attributes.h"

#include <algorithm>

namespace headway {
namespace {

constexpr int64_t kMostAttributes = 300, kMostGlobals = 2000, kMostBases = 40;
constexpr size_t kMostTypes = 2000;

constexpr TargetField<uint64_t> kType = 8;
constexpr TargetField<int64_t> kLength = 16;
constexpr TargetField<uint64_t> kListItems = 24;   // a pointer
constexpr TargetField<uint64_t> kTupleItems = 24;  // they begin here
constexpr TargetField<double> kFloat = 16;
constexpr TargetField<int64_t> kBasicSize = 32, kDictOffset = 288;  // of a type
constexpr TargetField<uint64_t> kFlags = 168, kBases = 344;         // in order of resolution
constexpr uint64_t kManagedDict = 1 << 4;

}  // namespace

uint64_t PythonAttributes::type_of(uint64_t object) const {
  return object == 0 ? 0 : stacks_.memory().get(object, kType).value_or(0);
}

bool PythonAttributes::is_a(uint64_t type, const std::string& name) {
  if (type == 0) return false;
  auto known = classes_.find(type);
  if (known == classes_.end()) {
    std::vector<std::string> names = {type_name(type)};
    const uint64_t bases = stacks_.memory().get(type, kBases).value_or(0);
    for (const uint64_t base : items_of(bases, kMostBases)) names.push_back(type_name(base));
    if (classes_.size() > kMostTypes) classes_.clear();
    known = classes_.emplace(type, std::move(names)).first;
  }
  return std::find(known->second.begin(), known->second.end(), name) != known->second.end();
}

PythonAttributes::Named PythonAttributes::named(
    const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
  Named out;
  for (const auto& [key, value] : entries)
    if (const std::string& name = stacks_.objects().name_at(key); !name.empty())
      out.emplace_back(name, value);
  return out;
}

// Values stored beside the object, in the order of the keys that its class remembers.
std::vector<std::pair<uint64_t, uint64_t>> PythonAttributes::unpacked_of(uint64_t object,
                                                                         uint64_t type) const {
  const MemoryReader& memory = stacks_.memory();
  const PythonOffsets& offsets = stacks_.offsets();
  const uint64_t keys = memory.get(type, offsets.type_keys).value_or(0);
  uint64_t values = 0;
  switch (offsets.attributes) {
    case AttributeLayout::kDict: return {};
    case AttributeLayout::kValuesOrDict:
      values = memory.value<uint64_t>(object - 32).value_or(0);
      break;
    case AttributeLayout::kTagged: {
      const uint64_t tagged = memory.value<uint64_t>(object - 24).value_or(0);
      values = tagged & 1 ? tagged + 1 : 0;
      break;
    }
    case AttributeLayout::kInline: {
      const int64_t size = memory.get(type, kBasicSize).value_or(0);
      if (size >= 16 && size < 4096) values = object + static_cast<uint64_t>(size) + 8;
      break;
    }
  }
  if (keys == 0 || values == 0) return {};
  return stacks_.objects().split_entries(keys, values, kMostAttributes);
}

PythonAttributes::Named PythonAttributes::all_of(uint64_t object) {
  const MemoryReader& memory = stacks_.memory();
  const PythonOffsets& offsets = stacks_.offsets();
  const uint64_t type = type_of(object);
  if (type == 0) return {};
  uint64_t dict = 0;
  const bool managed = memory.get(type, kFlags).value_or(0) & kManagedDict;
  if (offsets.attributes == AttributeLayout::kDict || !managed) {
    const int64_t at = memory.get(type, kDictOffset).value_or(0);
    if (at > 0 && at < 4096) dict = memory.value<uint64_t>(object + uint64_t(at)).value_or(0);
  } else {
    dict = memory.value<uint64_t>(object - 24).value_or(0);
    if (dict & 1) dict = 0;
  }
  if (dict != 0) return named(stacks_.objects().entries_of(dict, kMostAttributes));
  return managed ? named(unpacked_of(object, type)) : Named{};
}

std::optional<uint64_t> PythonAttributes::get(uint64_t object, const std::string& name) {
  for (const auto& [key, value] : all_of(object))
    if (key == name) return value;
  return std::nullopt;
}

PythonAttributes::Named PythonAttributes::named_entries_of(uint64_t dict) {
  return named(stacks_.objects().entries_of(dict, kMostAttributes));
}

std::optional<uint64_t> PythonAttributes::entry(uint64_t dict, const std::string& name) {
  for (const auto& [key, value] : named_entries_of(dict))
    if (key == name) return value;
  return std::nullopt;
}

int64_t PythonAttributes::size_of(uint64_t dict) {
  if (!is_a(type_of(dict), "dict")) return 0;
  return std::max<int64_t>(0, stacks_.memory().get(dict, kLength).value_or(0));
}

std::vector<uint64_t> PythonAttributes::items_of(uint64_t list, int64_t most) {
  const MemoryReader& memory = stacks_.memory();
  if (type_name(type_of(list)) == "ListWrapper") list = get(list, "_storage").value_or(0);
  const std::string kind = type_name(type_of(list));
  const int64_t count = memory.get(list, kLength).value_or(0);
  const bool is_list = kind == "list" || kind == "TrackedList";
  if ((!is_list && kind != "tuple") || count <= 0 || count > most) return {};
  const uint64_t from = is_list ? memory.get(list, kListItems).value_or(0) : kTupleItems.in(list);
  std::vector<uint64_t> out(static_cast<size_t>(count));
  if (!memory.read(from, out.data(), out.size() * sizeof(uint64_t))) out.clear();
  return out;
}

std::string PythonAttributes::text(uint64_t object) {
  return type_name(type_of(object)) == "str" ? stacks_.objects().text(object).value_or("") : "";
}

std::optional<double> PythonAttributes::number(uint64_t object) {
  const std::string kind = type_name(type_of(object));
  if (kind == "float") return stacks_.memory().get(object, kFloat);
  if (kind == "int" || kind == "bool")
    if (const auto whole = stacks_.objects().small_int(object)) return double(*whole);
  return std::nullopt;
}

PythonAttributes::Named PythonAttributes::variables_of(const PythonFrame& frame) {
  const MemoryReader& memory = stacks_.memory();
  const PythonOffsets& offsets = stacks_.offsets();
  if (frame.code->function == "<module>") {
    const uint64_t dict = memory.get(frame.address, offsets.frame_globals).value_or(0);
    return named(stacks_.objects().entries_of(dict, kMostGlobals));
  }
  const auto& names = frame.code->locals;
  std::vector<uint64_t> objects(names.size());
  if (names.empty() || !memory.read(offsets.frame_values.in(frame.address), objects.data(),
                                    objects.size() * sizeof(uint64_t)))
    return {};
  Named out;
  for (size_t i = 0; i < names.size(); ++i)
    if ((objects[i] &= ~offsets.tag_bits) != 0) out.emplace_back(names[i], objects[i]);
  return out;
}

}  // namespace headway
