#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headway/probe/python/python_stack.h"

namespace headway {

// Reads the content of a Python object: its class, its attributes, the items of a list. All reads
// are bounded; an object that changes meanwhile may show old and new values. Refers to the stacks.
// Not for several threads.
//
//   attributes.is_a(attributes.type_of(object), "Optimizer")
//   attributes.get(object, "param_groups")
class PythonAttributes {
 public:
  using Named = std::vector<std::pair<std::string, uint64_t>>;

  explicit PythonAttributes(PythonStacks& stacks) : stacks_(stacks) {}

  uint64_t type_of(uint64_t object) const;  // 0: cannot be read
  // Does this class, or one of its base classes, have that name?
  bool is_a(uint64_t type, const std::string& name);
  std::string type_name(uint64_t type) { return stacks_.objects().type_name(type); }

  // The attributes in the object's own dictionary, without those of its class and slots.
  Named all_of(uint64_t object);
  std::optional<uint64_t> get(uint64_t object, const std::string& name);
  // The entries of a dict whose keys are texts.
  Named named_entries_of(uint64_t dict);
  std::optional<uint64_t> entry(uint64_t dict, const std::string& name);
  int64_t size_of(uint64_t dict);  // number of entries with any keys; 0 if it is not a dict
  // The items of a list or tuple, or of a list that Keras or TensorFlow wraps; none if there are
  // more than `most`.
  std::vector<uint64_t> items_of(uint64_t list, int64_t most);
  std::optional<double> number(uint64_t object);  // value of a float, int or bool
  std::string text(uint64_t object);              // of a str; else empty
  // Local variables of a function's frame; for a module's frame its globals.
  Named variables_of(const PythonFrame& frame);

 private:
  Named named(const std::vector<std::pair<uint64_t, uint64_t>>& entries);
  std::vector<std::pair<uint64_t, uint64_t>> unpacked_of(uint64_t object, uint64_t type) const;

  PythonStacks& stacks_;
  std::map<uint64_t, std::vector<std::string>> classes_;  // by type: class names, its own first
};

}  // namespace headway
