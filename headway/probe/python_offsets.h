#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace headway {

struct PythonVersion {
  int major = 0, minor = 0;

  bool operator==(const PythonVersion&) const = default;
};

// How a code object says which line an instruction belongs to.
enum class LineTable { kLnotab, kDeltas, kLocations };

// Where CPython keeps what a stack is read from: offsets in bytes on x86-64 Linux, from the headers
// of each version. kNone: that version has no such thing.
struct PythonOffsets {
  static constexpr int kNone = -1;

  int interpreters_head, current_thread;    // in _PyRuntime; the thread that holds the lock
  int interpreter_next, threads_head, gil;  // in an interpreter; a pointer to the lock (3.12+)
  int gil_last_holder, gil_locked;
  int thread_next, thread_id, native_id;
  int frame, cframe_frame;  // in a thread; in what its cframe points to (kNone: frame is direct)
  int frame_back, frame_code, frame_instruction, frame_owner;
  int frame_globals, frame_locals, frame_values;  // dictionaries; the first local
  int code_file, code_name, code_qualname, code_first_line, code_lines, code_bytes, code_names;
  int text_ascii, text_compact;
  LineTable lines;
  int instruction_bytes;                     // what the frame's counter counts; 0: it is an address
  int thread_bytes, frame_bytes, code_size;  // how much to read of each
  uint64_t tag_bits = 0;  // of pointers in frames that are no part of the address
};

// Nothing for a version whose layout is not known.
std::optional<PythonOffsets> offsets_of(PythonVersion version);

// From 3.14 on _PyRuntime begins with a description of the interpreter's own layout; these are its
// first kDescribed numbers, from the cookie on. Nothing when it is a build without the lock.
constexpr int kDescribed = 50;
std::optional<PythonOffsets> described_offsets(std::span<const uint64_t, kDescribed> description);

}  // namespace headway
