#include "headway/core/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "headway/core/sync.h"

namespace headway {
namespace {

std::vector<std::string> names_of(const Element& element) {
  std::vector<std::string> names;
  for (const Field& f : element.fields()) names.push_back(f.name.str());
  return names;
}

[[noreturn]] void missing(const Element& element, const Name& name) {
  throw Error(fmt::format("the element has no field '{}', only [{}]", name.str(),
                          fmt::join(names_of(element), ", ")),
              "use one of these fields, or add the field with .map() first");
}

}  // namespace

Name::Name(std::string_view text) {
  static Mutex mu;
  static std::unordered_set<std::string>* names = new std::unordered_set<std::string>;
  MutexLock lock(mu);
  text_ = &*names->emplace(text).first;
}

const Name& Element::value_name() {
  static const Name name("value");
  return name;
}

Tensor* Element::find(Name name) {
  for (Field& f : fields_) {
    if (f.name == name) return &f.value;
  }
  return nullptr;
}

const Tensor* Element::find(Name name) const { return const_cast<Element*>(this)->find(name); }

Tensor& Element::operator[](Name name) {
  if (Tensor* tensor = find(name)) return *tensor;
  missing(*this, name);
}

const Tensor& Element::operator[](Name name) const { return const_cast<Element&>(*this)[name]; }

void Element::not_single() const {
  const std::vector<std::string> names = names_of(*this);
  throw Error(fmt::format("this element has {} fields [{}], so it cannot be used as a single value",
                          size(), fmt::join(names, ", ")),
              fmt::format("choose one field, as in element[\"{}\"]",
                          names.empty() ? "name" : names.front()));
}

void Element::set(Name name, Tensor value) {
  if (Tensor* tensor = find(name)) {
    *tensor = std::move(value);
  } else {
    append(name, std::move(value));
  }
}

void Element::rename(Name from, Name to) {
  for (Field& f : fields_) {
    if (f.name == from) f.name = to;
  }
}

void Element::remove(Name name) {
  std::erase_if(fields_, [&](const Field& f) { return f.name == name; });
}

void Element::compact() {
  for (Field& f : fields_) f.value = f.value.compact();
}

int64_t Element::size_bytes() const {
  int64_t total = 0;
  for (const Field& f : fields_) total += f.value.size_bytes();
  return total;
}

std::string Element::str() const {
  std::vector<std::string> parts;
  for (const Field& f : fields_)
    parts.push_back(fmt::format("{}: {}", f.name.str(), f.value.str()));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

bool Element::same(const Element& other) const {
  return std::equal(
      fields_.begin(), fields_.end(), other.fields_.begin(), other.fields_.end(),
      [](const Field& a, const Field& b) { return a.name == b.name && a.value.same(b.value); });
}

}  // namespace headway
