#include "headway/probe/python/python_prints.h"

#include <algorithm>
#include <vector>

namespace headway {
namespace {

constexpr int kLookAgain = 100;            // reads: a program may replace its streams
constexpr size_t kInterpreter = 64 << 10;  // of its state, searched for the dict of sys
constexpr size_t kBuffer = 8192;           // io.DEFAULT_BUFFER_SIZE
constexpr int64_t kMostNames = 400;        // the dict of sys has about 90
constexpr int64_t kMostHeld = 100000;      // pieces of text
constexpr int64_t kMostAtOnce = 64;        // of those, in one read
constexpr int64_t kHoldsBack = 8;
constexpr size_t kLongestPiece = 2000;

// The same in CPython 3.8 to 3.14.
constexpr TargetField<uint64_t> kType = 8;
constexpr TargetField<uint64_t> kBufferOfWrapper = 32, kHeldByWrapper = 136;  // a TextIOWrapper
constexpr TargetField<uint64_t> kBytesOfBuffered = 56;                        // a BufferedWriter
constexpr TargetField<int64_t> kEndOfBuffered = 64;  // of what was last written to it
constexpr TargetField<int64_t> kLength = 16;
constexpr TargetField<uint64_t> kItems = 24;  // of a list
constexpr TargetField<char> kBytes = 32;      // of a bytes object

bool ends_a_line(char c) { return c == '\n' || c == '\r'; }

}  // namespace

std::string changed_lines(const std::string& before, const std::string& now) {
  const size_t size = std::min(before.size(), now.size());
  size_t from = 0;
  while (from < size && before[from] == now[from]) ++from;
  if (from == now.size()) return "";
  while (from > 0 && !ends_a_line(now[from - 1])) --from;
  const std::string out = now.substr(from);
  return ends_a_line(out.back()) ? out : out + "\n";
}

std::string PythonPrints::read(bool errors) {
  if (reads_++ % kLookAgain == 0) find_streams();
  Stream& stream = streams_[errors];
  if (stream.wrapper == 0) return "";
  const MemoryReader& memory = stacks_.memory();
  const auto held = memory.get(stream.wrapper, kHeldByWrapper);
  if (held && *held != 0) {
    const auto type = memory.get(*held, kType);
    if (type && stacks_.objects().type_name(*type) == "list") {
      const std::string lines = newly_held(stream, *held);
      if (stream.holds_back) return lines;
    }
  }
  return stream.buffered != 0 && !stream.holds_back ? new_in_buffer(stream) : "";
}

std::string PythonPrints::new_in_buffer(Stream& stream) const {
  const MemoryReader& memory = stacks_.memory();
  const auto bytes = memory.get(stream.buffered, kBytesOfBuffered);
  const int64_t end = memory.get(stream.buffered, kEndOfBuffered).value_or(0);
  if (!bytes || end <= 0 || end > int64_t{kBuffer}) return "";
  std::string now(static_cast<size_t>(end), '\0'), again = now;
  if (!memory.read(*bytes, now.data(), now.size()) ||
      !memory.read(*bytes, again.data(), again.size()) || now != again ||
      memory.get(stream.buffered, kEndOfBuffered) != end)
    return "";
  const std::string before = std::exchange(stream.last, std::move(now));
  return before.empty() ? "" : changed_lines(before, stream.last);
}

// Pieces as they were written: "step 12 loss 0.5", "\n", ...
std::string PythonPrints::newly_held(Stream& stream, uint64_t list) {
  const MemoryReader& memory = stacks_.memory();
  const int64_t count = memory.get(list, kLength).value_or(0);
  const auto items = memory.get(list, kItems);
  if (!items || count <= 0 || count > kMostHeld) return "";
  const bool first = stream.held == 0;
  if (list != stream.held || count < stream.taken) stream.held = list, stream.taken = 0;
  stream.holds_back |= count >= kHoldsBack;
  if (first || !stream.holds_back) {  // what was printed before is from another time
    stream.taken = count;
    return "";
  }
  const int64_t from = std::max(stream.taken, count - kMostAtOnce);
  std::vector<uint64_t> pieces(static_cast<size_t>(count - from));
  if (!memory.read(*items + 8 * static_cast<uint64_t>(from), pieces.data(), 8 * pieces.size()))
    return "";
  std::string out = from > stream.taken ? "\n" : "";  // something was missed
  for (const uint64_t piece : pieces) out += text_of(piece);
  stream.taken = count;
  return out;
}

std::string PythonPrints::text_of(uint64_t object) {
  const MemoryReader& memory = stacks_.memory();
  const auto type = memory.get(object, kType);
  const std::string name = type ? stacks_.objects().type_name(*type) : "";
  if (name == "str") return stacks_.objects().text(object, kLongestPiece).value_or("");
  const int64_t length = memory.get(object, kLength).value_or(0);
  if (name != "bytes" || length <= 0 || length > int64_t{kLongestPiece}) return "";
  std::string out(static_cast<size_t>(length), '\0');
  return memory.read(kBytes.in(object), out.data(), out.size()) ? out : "";
}

void PythonPrints::find_streams() {
  const MemoryReader& memory = stacks_.memory();
  for (const auto& [key, value] : stacks_.objects().entries_of(find_sys(), kMostNames)) {
    const auto name = stacks_.objects().text(key, 16);
    if (name != "stdout" && name != "stderr") continue;
    Stream& stream = streams_[name == "stderr"];
    if (value == stream.wrapper) continue;
    stream = {};
    const auto type = memory.get(value, kType);
    if (!type || stacks_.objects().type_name(*type) != "_io.TextIOWrapper") continue;
    stream.wrapper = value;
    const uint64_t buffered = memory.get(value, kBufferOfWrapper).value_or(0);
    const auto kind = memory.get(buffered, kType);
    if (kind && stacks_.objects().type_name(*kind) == "_io.BufferedWriter")
      stream.buffered = buffered;
  }
}

// The dict of sys: the one in the interpreter's state that holds "stdout".
uint64_t PythonPrints::find_sys() const {
  constexpr size_t kPage = 4096;
  const MemoryReader& memory = stacks_.memory();
  const uint64_t interpreter = stacks_.interpreter();
  std::vector<uint64_t> words(kInterpreter / 8);
  size_t read = 0;
  for (; read < kInterpreter; read += kPage)
    if (!memory.read(interpreter + read, words.data() + read / 8, kPage)) break;
  words.resize(read / 8);
  for (const uint64_t word : words) {
    constexpr uint64_t kLowest = 1 << 16, kHighest = uint64_t{1} << 47;
    if (word % 8 != 0 || word < kLowest || word >= kHighest || memory.stopped()) continue;
    const auto type = memory.get(word, kType);
    if (!type || stacks_.objects().type_name(*type) != "dict") continue;
    for (const auto& [key, value] : stacks_.objects().entries_of(word, kMostNames))
      if (stacks_.objects().text(key, 16) == "stdout") return word;
  }
  return 0;
}

}  // namespace headway
