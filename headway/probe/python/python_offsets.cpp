#include "headway/probe/python/python_offsets.h"

namespace headway {
namespace {

// 3.8 to 3.10: frames are objects, code is a separate bytes object.
constexpr PythonOffsets kPython38 = {.interpreters_head = 32,
                                     .current_thread = 1368,
                                     .interpreter_next = 0,
                                     .threads_head = 8,
                                     .gil = {},
                                     .gil_last_holder = {},
                                     .gil_locked = {},
                                     .thread_next = 8,
                                     .thread_id = 176,
                                     .native_id = {},
                                     .frame = 24,
                                     .cframe_frame = {},
                                     .frame_back = 24,
                                     .frame_code = 32,
                                     .frame_instruction = 104,
                                     .frame_owner = {},
                                     .frame_globals = 48,
                                     .frame_values = 360,
                                     .code_file = 104,
                                     .code_name = 112,
                                     .code_qualname = {},
                                     .code_first_line = 40,
                                     .code_lines = 120,
                                     .code_bytes = {},
                                     .code_names = 72,
                                     .text_ascii = 48,
                                     .text_compact = 72,
                                     .lines = LineTable::kLnotab,
                                     .instruction_bytes = 1,
                                     .thread_bytes = 192,
                                     .frame_bytes = 120,
                                     .code_size = 136};

constexpr PythonOffsets python39() {
  PythonOffsets o = kPython38;
  o.current_thread = 568;
  return o;
}

constexpr PythonOffsets python310() {
  PythonOffsets o = python39();
  o.frame_instruction = 96;
  o.frame_values = 352;
  o.lines = LineTable::kDeltas;
  o.instruction_bytes = 2;
  return o;
}

// From 3.11 on: frames are structures on a stack of Python's own, code follows its object.
constexpr PythonOffsets kPython311 = {.interpreters_head = 40,
                                      .current_thread = 576,
                                      .interpreter_next = 0,
                                      .threads_head = 16,
                                      .gil = {},
                                      .gil_last_holder = {},
                                      .gil_locked = {},
                                      .thread_next = 8,
                                      .thread_id = 152,
                                      .native_id = 160,
                                      .frame = 56,
                                      .cframe_frame = 8,
                                      .frame_back = 48,
                                      .frame_code = 32,
                                      .frame_instruction = {},
                                      .frame_code_at = 56,
                                      .frame_owner = 69,
                                      .frame_globals = 8,
                                      .frame_values = 72,
                                      .code_file = 112,
                                      .code_name = 120,
                                      .code_qualname = 128,
                                      .code_first_line = 72,
                                      .code_lines = 136,
                                      .code_bytes = 184,
                                      .code_names = 96,
                                      .text_ascii = 48,
                                      .text_compact = 72,
                                      .lines = LineTable::kLocations,
                                      .instruction_bytes = 0,
                                      .thread_bytes = 168,
                                      .frame_bytes = 72,
                                      .code_size = 144,
                                      .attributes = AttributeLayout::kValuesOrDict,
                                      .type_keys = 872};

constexpr PythonOffsets python312() {
  PythonOffsets o = kPython311;
  o.current_thread = {};
  o.threads_head = 72;
  o.gil = 384, o.gil_last_holder = 8, o.gil_locked = 16;
  o.thread_id = 136, o.native_id = 144;
  o.cframe_frame = 0;
  o.frame_back = 8, o.frame_code = 0, o.frame_owner = 70;
  o.frame_globals = 24;
  o.code_first_line = 68, o.code_bytes = 192;
  o.text_ascii = 40, o.text_compact = 56;
  o.attributes = AttributeLayout::kTagged, o.type_keys = 880;
  return o;
}

constexpr PythonOffsets python313() {
  PythonOffsets o = python312();
  o.interpreters_head = 632;
  o.interpreter_next = 7264, o.threads_head = 7344;
  o.gil = 16;
  o.thread_id = 152, o.native_id = 160;
  o.frame = 72, o.cframe_frame = {};
  o.code_bytes = 200;
  o.attributes = AttributeLayout::kInline, o.values_header = 8;
  return o;
}

}  // namespace

// The position of each number in _Py_DebugOffsets of 3.14: cookie, version, free-threaded, then
// group by group. Other offsets in a frame are as in 3.13.
std::optional<PythonOffsets> described_offsets(std::span<const uint64_t, kDescribed> description) {
  const auto number = [&](size_t index) { return description[index]; };
  if (number(2) != 0 || number(31) > PythonOffsets::kLargestFrame) return std::nullopt;
  PythonOffsets o = python313();
  o.interpreters_head = number(5);
  o.interpreter_next = number(8), o.threads_head = number(9), o.gil = number(15);
  o.gil_locked = number(18) - number(16), o.gil_last_holder = number(19) - number(16);
  o.thread_next = number(24), o.frame = number(26);
  o.thread_id = number(27), o.native_id = number(28);
  o.frame_bytes = number(31), o.frame_back = number(32), o.frame_code = number(33);
  o.frame_code_at = number(34), o.frame_values = number(35), o.frame_owner = number(36);
  o.code_file = number(40), o.code_name = number(41), o.code_qualname = number(42);
  o.code_lines = number(43), o.code_first_line = number(44), o.code_names = number(46);
  o.code_bytes = number(48);
  o.thread_bytes = PythonOffsets::kLargestThread;
  o.tag_bits = 3;
  return o;
}

std::optional<PythonOffsets> offsets_of(PythonVersion version) {
  if (version.major != 3) return std::nullopt;
  switch (version.minor) {
    case 8: return kPython38;
    case 9: return python39();
    case 10: return python310();
    case 11: return kPython311;
    case 12: return python312();
    case 13: return python313();
    default: return std::nullopt;
  }
}

}  // namespace headway
