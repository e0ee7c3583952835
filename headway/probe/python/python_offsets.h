#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "headway/probe/process/target_bytes.h"

namespace headway {

struct PythonVersion {
  int major = 0, minor = 0;

  bool operator==(const PythonVersion&) const = default;
};

// How a code object says which line an instruction belongs to.
enum class LineTable { kLnotab, kDeltas, kLocations };

// Where an object of a Python class keeps its attributes, unless they are in a dictionary to which
// the word 24 bytes before the object points.
enum class AttributeLayout {
  kDict,          // a dictionary; its offset in the object is in the type (up to 3.10)
  kValuesOrDict,  // values that the word 32 bytes before it points to (3.11)
  kTagged,  // values that the word 24 bytes before it points to, marked by its last bit (3.12)
  kInline,  // values after the object (from 3.13 on)
};

// Where CPython keeps the data that stacks are read from: on x86-64 Linux, from the headers of each
// version. Fields that a version does not have are empty.
struct PythonOffsets {
  static constexpr size_t kLargestThread = 256, kLargestFrame = 1024;  // the most bytes read of one

  TargetField<uint64_t> interpreters_head, current_thread;    // in _PyRuntime; who holds the lock
  TargetField<uint64_t> interpreter_next, threads_head, gil;  // in an interpreter; the lock (3.12+)
  TargetField<uint64_t> gil_last_holder;
  TargetField<int> gil_locked;
  TargetField<uint64_t> thread_next, thread_id, native_id;
  TargetField<uint64_t> frame,
      cframe_frame;  // in a thread; in what its cframe points to (none: direct)
  TargetField<uint64_t> frame_back, frame_code;
  TargetField<int> frame_instruction;     // counter (up to 3.10)
  TargetField<uint64_t> frame_code_at{};  // address (from 3.11 on)
  TargetField<char> frame_owner;
  TargetField<uint64_t> frame_globals, frame_values;  // a dictionary; the first local
  TargetField<uint64_t> code_file, code_name, code_qualname;
  TargetField<int> code_first_line;
  TargetField<uint64_t> code_lines, code_bytes, code_names;
  TargetField<char> text_ascii, text_compact;
  LineTable lines;
  int instruction_bytes;                        // size of one unit of the frame's counter
  size_t thread_bytes, frame_bytes, code_size;  // how much to read of each
  AttributeLayout attributes = AttributeLayout::kDict;
  TargetField<uint64_t> type_keys{};  // in a class: names of its objects' values (from 3.11 on)
  uint64_t values_header = 0;         // bytes before the values that a dictionary points to
  uint64_t tag_bits = 0;  // bits of pointers in frames that do not belong to the address
};

// Nothing if the version's layout is not known.
std::optional<PythonOffsets> offsets_of(PythonVersion version);

// From 3.14 on _PyRuntime begins with a description of the interpreter's own layout; these are its
// first kDescribed numbers, from the cookie on. Nothing if it is a free-threaded build (without the
// lock), or if a size is impossible for a structure of Python's.
constexpr int kDescribed = 50;
std::optional<PythonOffsets> described_offsets(std::span<const uint64_t, kDescribed> description);

}  // namespace headway
