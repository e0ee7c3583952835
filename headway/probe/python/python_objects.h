#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headway/probe/process/memory_reader.h"
#include "headway/probe/python/python_offsets.h"

namespace headway {

// A compiled Python function.
struct PythonCode {
  std::string file{}, function{};
  int first_line = 0;
  std::string lines{};                // the line table
  std::vector<std::string> locals{};  // names, in the order of the frame
  bool users = false;                 // not in a library
  uint64_t id = 0;                    // equal for the same function in another process

  size_t bytes() const;  // memory used, roughly
};

// Reads objects of a Python target: texts, types, code. Remembers code, up to a limit. Refers to
// memory and offsets. Not for several threads.
class PythonObjects {
 public:
  PythonObjects(const MemoryReader& memory, const PythonOffsets& offsets)
      : memory_(memory), offsets_(offsets) {}

  // The text of a str as valid UTF-8; of a long one about the first `limit` bytes.
  std::optional<std::string> text(uint64_t object, size_t limit = 512) const;
  std::string type_name(uint64_t type);  // "int"; empty when it cannot be read
  // For a str that is a name: the text at an address is remembered and not read again.
  const std::string& name_at(uint64_t object);
  std::optional<int64_t> small_int(uint64_t object) const;  // value of an int below 2^60
  // Keys and values of a dict; none if there are more than `most`.
  using Entries = std::vector<std::pair<uint64_t, uint64_t>>;
  Entries entries_of(uint64_t dict, int64_t most) const;
  // The same where values are stored separately: `keys` are the keys object of a dict or class.
  Entries split_entries(uint64_t keys, uint64_t values, int64_t most) const;

  // The code object at this address; `header` are its first bytes, already read. nullptr if it is
  // not one. `is_new` becomes true if it had to be read.
  std::shared_ptr<const PythonCode> code_at(uint64_t address, TargetBytes header, bool& is_new);
  // Starts a new look: the limit on newly read bytes counts from here.
  void begin_look() { new_bytes_ = 0; }
  size_t kept_bytes() const { return known_bytes_; }

 private:
  struct Known {
    std::shared_ptr<const PythonCode> code{};
    uint64_t file = 0, name = 0, lines = 0;  // addresses: another code object at the
    int first_line = 0;                      // same address differs in one of these
  };
  std::optional<Known> parts_of(TargetBytes header) const;
  std::shared_ptr<const PythonCode> read_code(const Known& parts, uint64_t names) const;
  bool is_code_type(uint64_t type);

  const MemoryReader& memory_;
  const PythonOffsets& offsets_;
  uint64_t code_type_ = 0;
  std::unordered_map<uint64_t, Known> codes_;
  size_t known_bytes_ = 0, new_bytes_ = 0;
  std::map<uint64_t, std::string> type_names_;
  std::unordered_map<uint64_t, std::string> names_;
};

}  // namespace headway
