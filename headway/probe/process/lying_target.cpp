#include "headway/probe/process/lying_target.h"

#include <algorithm>
#include <array>

namespace headway {
namespace {

// The description that a 3.14 gives of itself; the inverse of described_offsets().
std::array<uint64_t, kDescribed> description_of(const PythonOffsets& o) {
  std::array<uint64_t, kDescribed> out{};
  std::memcpy(out.data(), "xdebugpy", 8);
  out[5] = o.interpreters_head.in(0);
  out[8] = o.interpreter_next.in(0), out[9] = o.threads_head.in(0), out[15] = o.gil.in(0);
  out[18] = o.gil_locked.in(0), out[19] = o.gil_last_holder.in(0);
  out[24] = o.thread_next.in(0), out[26] = o.frame.in(0);
  out[27] = o.thread_id.in(0), out[28] = o.native_id.in(0);
  out[31] = o.frame_bytes, out[32] = o.frame_back.in(0), out[33] = o.frame_code.in(0);
  out[34] = o.frame_code_at.in(0), out[35] = o.frame_values.in(0), out[36] = o.frame_owner.in(0);
  out[40] = o.code_file.in(0), out[41] = o.code_name.in(0), out[42] = o.code_qualname.in(0);
  out[43] = o.code_lines.in(0), out[44] = o.code_first_line.in(0), out[46] = o.code_names.in(0);
  out[48] = o.code_bytes.in(0);
  return out;
}

// Puts Python's objects into a memory, one kind per function.
class Builder {
 public:
  Builder(LyingMemory& memory, const PythonOffsets& offsets, int64_t table_bytes)
      : m_(memory), o_(offsets), table_bytes_(table_bytes) {
    code_type_ = type("code"), text_type_ = type("str"), int_type_ = type("int");
    list_type_ = type("list"), float_type_ = type("float");
  }

  uint64_t text(const std::string& value) {
    const uint64_t at = object(text_type_, 80 + value.size());
    m_.put<int64_t>(at + 16, static_cast<int64_t>(value.size()));
    m_.put<uint32_t>(at + 32, 1u << 2 | 1u << 5 | 1u << 6);  // one byte each, compact, ASCII
    m_.put_bytes(o_.text_ascii.in(at), value.data(), value.size());
    return at;
  }
  uint64_t number(uint32_t value) {
    const uint64_t at = object(int_type_, 32);
    m_.put<int64_t>(at + 16, o_.gil ? 1 << 3 : 1);
    m_.put<uint32_t>(at + 24, value);
    return at;
  }
  uint64_t real(double value) {
    const uint64_t at = object(float_type_, 32);
    m_.put(at + 16, value);
    return at;
  }
  uint64_t list(int64_t length) {
    const uint64_t at = object(list_type_, 40);
    m_.put(at + 16, length);
    return at;
  }
  uint64_t raw_bytes(const std::string& value, int64_t said) {
    const uint64_t at = object(text_type_, 40 + value.size());
    m_.put(at + 16, said);
    m_.put_bytes(at + 32, value.data(), value.size());
    return at;
  }
  uint64_t tuple(const std::vector<uint64_t>& items) {
    const uint64_t at = object(list_type_, 32 + 8 * items.size());
    m_.put<int64_t>(at + 16, static_cast<int64_t>(items.size()));
    for (size_t i = 0; i < items.size(); ++i) m_.put_pointer(at + 24 + 8 * i, items[i]);
    return at;
  }
  uint64_t dictionary(const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
    const uint64_t dict = object(list_type_, 48), keys = m_.place(32 + 8 + 24 * entries.size());
    m_.put_pointer(dict + 32, keys);
    m_.put<unsigned char>(keys + 9, 3);  // an index of 8 bytes
    m_.put<unsigned char>(keys + 10, 0);
    m_.put<int64_t>(keys + 24, static_cast<int64_t>(entries.size()));
    for (size_t i = 0; i < entries.size(); ++i) {
      m_.put_pointer(keys + 40 + 24 * i + 8, entries[i].first);
      m_.put_pointer(keys + 40 + 24 * i + 16, entries[i].second);
    }
    return dict;
  }
  // All its instructions belong to one line.
  uint64_t code(uint64_t file, const std::string& name, int line, std::vector<uint64_t> locals) {
    const uint64_t at = object(code_type_, 512);
    m_.put_pointer(o_.code_file.in(at), file);
    m_.put_pointer(o_.code_name.in(at), text(name));
    if (o_.code_qualname) m_.put_pointer(o_.code_qualname.in(at), text(name));
    m_.put(o_.code_first_line.in(at), line);
    m_.put_pointer(o_.code_lines.in(at), raw_bytes(lines(), table_bytes_));
    m_.put_pointer(o_.code_names.in(at), tuple(locals));
    return at;
  }
  uint64_t frame(uint64_t back, uint64_t code, uint64_t globals, std::vector<uint64_t> locals) {
    const uint64_t at = m_.place(o_.frame_values.in(0) + 8 * locals.size() + 64);
    back ? m_.put_pointer(o_.frame_back.in(at), back) : m_.put_end(o_.frame_back.in(at), at, true);
    m_.put_pointer(o_.frame_code.in(at), code);
    if (o_.frame_code_at) m_.put_pointer(o_.frame_code_at.in(at), o_.code_bytes.in(code) + 2);
    if (o_.frame_instruction) m_.put(o_.frame_instruction.in(at), 1);
    if (o_.frame_owner) m_.put<char>(o_.frame_owner.in(at), 0);
    m_.put_pointer(o_.frame_globals.in(at), globals);
    for (size_t i = 0; i < locals.size(); ++i)
      m_.put_pointer(o_.frame_values.in(at) + 8 * i, locals[i]);
    return at;
  }
  uint64_t thread(uint64_t next, uint64_t frame, pid_t tid) {
    const uint64_t at = m_.place(256);
    next ? m_.put_pointer(o_.thread_next.in(at), next)
         : m_.put_end(o_.thread_next.in(at), at, false);
    uint64_t first = frame;
    if (o_.cframe_frame) {
      first = m_.place(32);
      m_.put_pointer(o_.cframe_frame.in(first), frame);
    }
    m_.put_pointer(o_.frame.in(at), first);
    if (o_.native_id) {
      m_.put<uint64_t>(o_.native_id.in(at), static_cast<uint64_t>(tid));
    } else {
      const uint64_t pthread = m_.place(768);
      m_.put(pthread + 720, tid);
      m_.put_pointer(o_.thread_id.in(at), pthread);
    }
    return at;
  }

 private:
  uint64_t type(const std::string& name) {
    const uint64_t at = m_.place(64), letters = m_.place(name.size() + 1);
    m_.put_bytes(letters, name.c_str(), name.size() + 1);
    m_.put_pointer(at + 24, letters);
    return at;
  }
  uint64_t object(uint64_t type, size_t bytes) {
    const uint64_t at = m_.place(bytes);
    m_.put(at + 8, type);  // not a pointer that moves: all copies share their types
    return at;
  }
  std::string lines() const {
    if (o_.lines == LineTable::kLocations) return std::string("\x87\x00\x87\x00", 4);
    return std::string("\xf0\x00\x0e\x00", 4);
  }

  LyingMemory& m_;
  const PythonOffsets& o_;
  const int64_t table_bytes_;
  uint64_t code_type_, text_type_, int_type_, list_type_, float_type_;
};

}  // namespace

void LyingMemory::lie(std::mt19937_64& random) {
  const size_t at = words_[random() % words_.size()];
  const auto somewhere = [&] { return base_ + words_[random() % words_.size()]; };
  uint64_t value = 0;
  switch (random() % 12) {
    case 0: value = 0; break;
    case 1: value = ~uint64_t{0}; break;
    case 2: value = uint64_t{1} << 63; break;
    case 3: value = uint64_t{1} << random() % 64; break;
    case 4: value = (uint64_t{1} << random() % 64) - 1; break;
    case 5: value = base_ + size_ - random() % 64; break;  // the last existing bytes
    case 6: value = base_ + at; break;                     // itself
    case 7: value = random() % 4096; break;
    case 8: value = random(); break;
    case 9: value = base_ + at + size_; break;  // into the next copy
    default: value = somewhere(); break;
  }
  std::memcpy(bytes_ + at, &value, std::min(sizeof value, size_ - at));
}

void LyingMemory::repeat_without_end() {
  repeats_ = true;
  std::sort(pointers_.begin(), pointers_.end());
}

void LyingMemory::lead_on(bool stacks) {
  for (const End& end : ends_) {
    if (end.of_stack != stacks) continue;
    const uint64_t next = end.object + size_;
    std::memcpy(bytes_ + end.at, &next, sizeof next);
  }
}

ssize_t LyingMemory::read(const iovec* here, const iovec* there, unsigned long count) {
  ssize_t all = 0;
  if (every_ > 0 && changing_() % every_ == 0) lie(changing_);
  for (unsigned long i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<uint64_t>(there[i].iov_base);
    const size_t got = copy(address, static_cast<char*>(here[i].iov_base), here[i].iov_len);
    all += static_cast<ssize_t>(got);
    if (got < here[i].iov_len) break;
  }
  return all > 0 || count == 0 || here[0].iov_len == 0 ? all : -1;
}

size_t LyingMemory::copy(uint64_t address, char* into, size_t bytes) const {
  if (bytes == 0 || address < base_ || (!repeats_ && address - base_ >= size_)) return 0;
  const uint64_t copy_of = (address - base_) / size_;
  const size_t from = (address - base_) % size_;
  const size_t whole = std::min(bytes, size_ - from);
  std::memcpy(into, bytes_ + from, whole);
  for (auto at = std::lower_bound(pointers_.begin(), pointers_.end(), from);
       copy_of > 0 && at != pointers_.end() && *at + 8 <= from + whole; ++at) {
    uint64_t pointer = 0;
    std::memcpy(&pointer, into + (*at - from), sizeof pointer);
    if (pointer >= base_) pointer += copy_of * size_;
    std::memcpy(into + (*at - from), &pointer, sizeof pointer);
  }
  if (whole == bytes || !repeats_) return whole;
  return whole + copy(address + whole, into + whole, bytes - whole);
}

PythonRuntime put_python(LyingMemory& memory, PythonVersion version, pid_t main_tid,
                         const std::string& file_name, int64_t table_bytes) {
  const bool described = version == PythonVersion{3, 14};
  const PythonOffsets o = *offsets_of(described ? PythonVersion{3, 13} : version);
  const uint64_t runtime = memory.place(2048), interpreter = memory.place(8192);
  if (described) {
    const auto numbers = description_of(o);
    for (size_t i = 0; i < numbers.size(); ++i) memory.put(runtime + 8 * i, numbers[i]);
  }
  Builder build(memory, o, table_bytes);
  const uint64_t file = build.text(file_name);
  const uint64_t step = build.text("step"), path = build.text("path"), loss = build.text("loss");
  const uint64_t batch = build.text("batch"), a_number = build.number(12345);
  const uint64_t a_path = build.text("a.png"), a_loss = build.real(0.5), a_list = build.list(64);
  const uint64_t globals = build.dictionary({{step, a_number}, {path, a_path}, {batch, a_list}});
  const uint64_t module = build.code(file, "<module>", 8, {});
  const uint64_t outer = build.code(file, "outer", 7, {loss, batch});
  const uint64_t inner = build.code(file, "inner", 5, {step, path});
  uint64_t thread = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t outermost = build.frame(0, module, globals, {});
    const uint64_t middle = build.frame(outermost, outer, globals, {a_loss, a_list});
    const uint64_t innermost = build.frame(middle, inner, globals, {a_number, a_path});
    thread = build.thread(thread, innermost, main_tid + i);
  }
  memory.put_pointer(o.interpreters_head.in(runtime), interpreter);
  memory.put_pointer(o.interpreter_next.in(interpreter), 0);
  memory.put_pointer(o.threads_head.in(interpreter), thread);
  if (o.current_thread) memory.put_pointer(o.current_thread.in(runtime), thread);
  if (o.gil) {
    const uint64_t gil = memory.place(32);
    memory.put_pointer(o.gil.in(interpreter), gil);
    memory.put(o.gil_locked.in(gil), 1);
    memory.put_pointer(o.gil_last_holder.in(gil), thread);
  }
  return {.version = version, .address = runtime, .file = "python"};
}

}  // namespace headway
