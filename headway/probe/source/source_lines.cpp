#include "headway/probe/source/source_lines.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "headway/probe/process/thread_settings.h"
#include "headway/probe/source/source_flow.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kMostLines = 50000, kMostFiles = 64, kLongestLine = 400, kLongestShown = 160;
constexpr size_t kMostCompiled = 32, kMostSettings = 8;  // of one file
constexpr size_t kMostFlows = 2000;
constexpr size_t kLargestFile = 4 << 20, kMostBytes = 16 << 20;  // one; all that are remembered

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

// The condition of a loop that waits until a lock file disappears.
bool names_a_lock_file(const std::string& line) {
  const bool tries = contains(line, "exists(") || contains(line, "is_file(") ||
                     contains(line, "isfile(") || contains(line, "os.open(");
  return (tries && (contains(line, "lock") || contains(line, "LOCK"))) ||
         contains(line, "O_EXCL") || contains(line, "LOCK_NB") || contains(line, "FileExistsError");
}

bool touches_one_element(const std::string& line) {
  if (contains(line, "pixel(") || contains(line, "][")) return true;
  const size_t open = line.find('[');
  if (open == std::string::npos) return false;
  const std::string index = line.substr(open, line.find(']', open) - open);
  return contains(index, ",") && !contains(index, ":");
}

bool calls_for_data(const std::string& line) {
  for (const char* library :
       {"np.",      "numpy.",  "Image.",  "ImageOps.", "ImageFilter.", "cv2.",   "pd.",
        "json.",    "pickle.", "csv.",    "gzip.",     "zlib.",        "scipy.", "skimage.",
        "librosa.", "random.", "struct.", "re.",       "hashlib.",     "base64."}) {
    const size_t at = line.find(library);
    if (at == std::string::npos) continue;
    const char before = at > 0 ? line[at - 1] : ' ';
    const bool other =
        std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '.';
    if (!other) return true;
  }
  return line.find("open(") != std::string::npos;
}

bool may_take_a_lock(const std::string& line) {
  for (const char* word : {"acquire", "with ", "lock", "Lock", "join(", "get(", "put(", "wait(",
                           "result(", "recv", "arrier", "emaphore"})
    if (contains(line, word)) return true;
  return line.empty();
}

bool is_users_file(const std::string& file) {
  if (file.empty()) return false;
  if (file[0] == '<') return file == "<string>" || file == "<stdin>";
  if (contains(file, "/site-packages/") || contains(file, "/dist-packages/")) return false;
  if (contains(file, "__autograph_generated_file") || contains(file, "ipykernel")) return false;
  const size_t lib = file.find("/lib/python3");
  return lib == std::string::npos;
}

const std::vector<std::string>& SourceLines::lines_of(const std::string& file) {
  auto known = files_.find(file);
  if (known == files_.end()) {
    if (files_.size() >= kMostFiles || kept_bytes_ > kMostBytes) files_.clear(), kept_bytes_ = 0;
    known = files_.try_emplace(file).first;
    std::istringstream in(read_file(file));
    for (std::string each; std::getline(in, each) && known->second.size() < kMostLines;) {
      known->second.push_back(each.substr(0, kLongestLine));
      kept_bytes_ += sizeof each + known->second.back().size();
    }
  }
  return known->second;
}

std::string SourceLines::read_file(const std::string& file) const {
  if (!user_) return "";
  const auto opened =
      TargetFile::open(pid_, *user_, file, TargetFile::Owner::kUserOrEverybody, kLargestFile);
  if (!opened) return "";
  std::string out(opened->size(), '\0');
  out.resize(opened->read(0, out.data(), out.size()));
  return out;
}

std::string SourceLines::text(const std::string& file, int64_t line) {
  if (file.empty() || file[0] == '<' || line <= 0) return "";
  const std::vector<std::string>& lines = lines_of(file);
  if (static_cast<size_t>(line) > lines.size()) return "";
  const std::string& whole = lines[static_cast<size_t>(line - 1)];
  const size_t begin = whole.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return redact_source(
      whole.substr(begin, std::min(kLongestShown, whole.find_last_not_of(" \t\r") - begin + 1)));
}

SourceLines::Loops SourceLines::loops_around(const std::string& file, int64_t line) {
  Loops out;
  if (file.empty() || file[0] == '<' || line <= 0) return out;
  const std::vector<std::string>& lines = lines_of(file);
  if (static_cast<size_t>(line) > lines.size()) return out;
  size_t margin = lines[static_cast<size_t>(line - 1)].find_first_not_of(" \t");
  bool asks = false;
  for (size_t i = static_cast<size_t>(line - 1); i-- > 0 && margin != 0;) {
    const size_t begin = lines[i].find_first_not_of(" \t\r");
    if (begin == std::string::npos || lines[i][begin] == '#') continue;
    asks |= names_a_lock_file(lines[i]);
    if (begin >= margin) continue;
    margin = begin;
    const std::string_view head = std::string_view(lines[i]).substr(begin);
    if (head.starts_with("def ") || head.starts_with("async def ")) break;
    out.endless |= head.starts_with("while ");
    if (head.starts_with("while ") || head.starts_with("for ")) out.asks_for_lock |= asks;
    out.count += head.starts_with("for ") || head.starts_with("while ");
  }
  return out;
}

const std::vector<int64_t>& SourceLines::lines_fed(const std::string& file, int64_t line) {
  if (fed_.size() >= kMostFlows) fed_.clear();
  const auto [known, fresh] = fed_.try_emplace({file, line});
  if (fresh && !file.empty() && file[0] != '<')
    known->second = headway::lines_fed(lines_of(file), line);
  return known->second;
}

const SourceFacts& SourceLines::facts(const std::string& file) {
  static const SourceFacts kNone;
  if (facts_.size() >= kMostFiles && !facts_.count(file)) return kNone;
  const auto [known, fresh] = facts_.try_emplace(file);
  if (fresh && !file.empty() && file[0] != '<') known->second = facts_in(lines_of(file));
  return known->second;
}

bool SourceLines::validates(const std::string& file, int64_t line) {
  const std::vector<SourceRange>& ranges = facts(file).validates;
  return std::any_of(ranges.begin(), ranges.end(), [&](const SourceRange& range) {
    return line >= range.first && line <= range.last;
  });
}

// "@jax.jit" or "@partial(jit, ...)" above "def step(", and "step = jax.jit(train_step)".
const std::vector<std::string>& SourceLines::compiled_functions(const std::string& file) {
  if (compiled_.size() >= kMostFiles) compiled_.clear();
  const auto [known, fresh] = compiled_.try_emplace(file);
  std::vector<std::string>& found = known->second;
  if (!fresh) return found;
  bool compiled = false;
  for (const std::string& line : lines_of(file)) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#' || found.size() >= kMostCompiled) continue;
    const std::string_view code = std::string_view(line).substr(begin);
    const bool named = contains(line, "jit") || contains(line, "pmap");
    if (code.starts_with("@")) {
      compiled |= named;
    } else if (code.starts_with("def ")) {
      if (compiled) found.emplace_back(code.substr(4, code.find('(') - 4));
      compiled = false;
    } else if (const size_t is = code.find('='); is != std::string_view::npos && named) {
      std::string_view made = code.substr(is + 1), name = code.substr(0, is);
      made.remove_prefix(std::min(made.find_first_not_of(' '), made.size()));
      name = name.substr(0, name.find_last_not_of(' ') + 1);
      for (const char* maker :
           {"jax.jit(", "jit(", "jax.pmap(", "pmap(", "nnx.jit(", "eqx.filter_jit("})
        if (made.starts_with(maker)) {
          found.emplace_back(name);
          break;
        }
    }
  }
  return found;
}

bool SourceLines::calls_compiled(const std::string& file, int64_t line) {
  if (file.empty() || file[0] == '<' || line <= 0) return false;
  const std::vector<std::string>& names = compiled_functions(file);
  if (names.empty()) return false;
  const std::vector<std::string>& lines = lines_of(file);
  if (static_cast<size_t>(line) > lines.size()) return false;
  const std::string& text = lines[static_cast<size_t>(line - 1)];
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const size_t at = text.find(name + "(");
    return at != std::string::npos &&
           (at == 0 ||
            !(std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_'));
  });
}

const std::vector<SeenThreadSetting>& SourceLines::thread_settings(const std::string& file) {
  if (settings_.size() >= kMostFiles) settings_.clear();
  const auto [known, fresh] = settings_.try_emplace(file);
  std::vector<SeenThreadSetting>& found = known->second;
  if (!fresh || file.empty() || file[0] == '<') return found;
  int64_t number = 0;
  for (const std::string& line : lines_of(file)) {
    ++number;
    if (line.find("hread") == std::string::npos && line.find("THREADS") == std::string::npos)
      continue;
    SettingCall call = setting_in_line(line);
    if (call.threads == 0 || found.size() >= kMostSettings) continue;
    SeenFrame at{.file = redact_path(file), .line = number, .users = true};
    at.text = text(file, number);
    found.push_back({std::move(call.text), std::move(at), call.threads});
  }
  return found;
}

const std::vector<std::string>& SourceLines::endless_generators(const std::string& file) {
  if (endless_.size() >= kMostFiles) endless_.clear();
  const auto [known, fresh] = endless_.try_emplace(file);
  std::vector<std::string>& found = known->second;
  if (!fresh || file.empty() || file[0] == '<') return found;
  constexpr size_t kNowhere = std::string::npos;
  std::string function;
  size_t function_margin = 0, loop_margin = kNowhere;
  for (const std::string& line : lines_of(file)) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    if (contains(line, ".take(") || contains(line, "islice(") ||
        contains(line, "steps_per_epoch=") || contains(line, "limit_train_batches=")) {
      found.clear();
      return found;
    }
    const std::string_view code = std::string_view(line).substr(begin);
    if (loop_margin != kNowhere && begin <= loop_margin) loop_margin = kNowhere;
    if (begin <= function_margin) function.clear();
    if (code.starts_with("def ")) {
      function = code.substr(4, code.find('(') - 4);
      function_margin = begin;
    } else if (code.starts_with("while True") || code.starts_with("while 1:")) {
      if (loop_margin == kNowhere) loop_margin = begin;
    } else if (code.starts_with("yield") && !function.empty() && loop_margin != kNowhere &&
               (found.empty() || found.back() != function)) {
      found.push_back(function);
    }
  }
  return found;
}

bool SourceLines::has_endless_loop(const std::string& file, int64_t first_line) {
  if (file.empty() || file[0] == '<' || first_line <= 0) return false;
  const std::vector<std::string>& lines = lines_of(file);
  size_t at = static_cast<size_t>(first_line - 1);
  if (at >= lines.size()) return false;
  const size_t margin = lines[at].find_first_not_of(" \t");
  for (++at; at < lines.size(); ++at) {
    const size_t begin = lines[at].find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    if (begin <= margin) return false;  // end of the function
    if (lines[at].find("while True") == begin || lines[at].find("while 1:") == begin) return true;
  }
  return false;
}

}  // namespace headway
