#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headway/core/tensor.h"

namespace headway {

// A field's name, interned: comparing two is comparing pointers. Making one takes a lock; make it
// once, outside of loops.
class Name {
 public:
  Name(std::string_view text);
  Name(const char* text) : Name(std::string_view(text)) {}
  Name(const std::string& text) : Name(std::string_view(text)) {}

  const std::string& str() const { return *text_; }
  bool operator==(const Name& other) const { return text_ == other.text_; }

 private:
  const std::string* text_;
};

struct Field {
  Field(Name name, Tensor value) : name(name), value(std::move(value)) {}

  Name name;
  Tensor value;
};

// What flows through a pipeline: a few named tensors, in order. A batch is an Element whose tensors
// have one more dimension in front.
//
//   Element e;
//   e.set("image", Tensor::empty(DType::kUInt8, {224, 224, 3}));
//   e.set("label", Tensor::scalar<int64_t>(3));
//   e["label"].item<int64_t>();
class Element {
 public:
  Element() = default;
  // One field called "value", as range() and generators of plain numbers give.
  explicit Element(Tensor value) { set(value_name(), std::move(value)); }

  size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  void clear() { fields_.clear(), file_.reset(), offset_ = -1; }

  // The field of that name; an Error that lists the fields there are when it is missing.
  Tensor& operator[](Name name);
  const Tensor& operator[](Name name) const;
  Tensor* find(Name name);
  const Tensor* find(Name name) const;
  // The only field, or an Error.
  Tensor& only() {
    if (fields_.size() != 1) not_single();
    return fields_[0].value;
  }
  const Tensor& only() const { return const_cast<Element*>(this)->only(); }

  void set(Name name, Tensor value);  // replaces, or appends
  void append(Name name, Tensor&& value) { fields_.emplace_back(name, std::move(value)); }
  void append(Name name, const Tensor& value) { fields_.emplace_back(name, value); }
  void rename(Name from, Name to);
  void remove(Name name);

  std::vector<Field>& fields() { return fields_; }
  const std::vector<Field>& fields() const { return fields_; }

  // The file (and byte) this came from, for messages. Shared, so that records of one file cost
  // nothing.
  void set_origin(std::shared_ptr<const std::string> file, int64_t offset = -1) {
    file_ = std::move(file), offset_ = offset;
  }
  void copy_origin(const Element& other) { file_ = other.file_, offset_ = other.offset_; }
  Origin origin() const { return {file_ ? *file_ : std::string(), offset_}; }
  const std::string* origin_file() const { return file_.get(); }

  // Makes the values of every field its own (Tensor::own_values): before they are written to.
  void own_values() {
    for (Field& field : fields_) field.value.own_values();
  }
  // Makes every field compact(): before an element is kept for long.
  void compact();

  int64_t size_bytes() const;
  std::string str() const;
  bool same(const Element& other) const;  // names, order and every bit of the values

  static const Name& value_name();

 private:
  [[noreturn]] void not_single() const;

  std::vector<Field> fields_;
  std::shared_ptr<const std::string> file_;
  int64_t offset_ = -1;
};

using Batch = Element;

}  // namespace headway
