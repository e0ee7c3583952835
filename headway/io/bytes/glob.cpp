#include "headway/io/bytes/glob.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "headway/core/error.h"
#include "headway/io/bytes/file.h"

namespace headway {
namespace {

// ---- patterns ----

// Position of the '}' that closes the '{' at `open`, or npos; adds those of the commas between.
size_t closing(std::string_view pattern, size_t open, std::vector<size_t>& commas) {
  int depth = 0;
  for (size_t i = open; i < pattern.size(); ++i) {
    if (pattern[i] == '{') ++depth;
    if (pattern[i] == ',' && depth == 1) commas.push_back(i);
    if (pattern[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

void expand_choices(const std::string& pattern, size_t from, std::vector<std::string>& out) {
  constexpr size_t kMostPatterns = 10'000;
  if (out.size() > kMostPatterns) {
    throw Error(fmt::format("{}: more than {} choices", pattern, kMostPatterns), "use * instead");
  }
  const size_t open = pattern.find('{', from);
  if (open == std::string::npos) return out.push_back(pattern);
  std::vector<size_t> cuts = {open};
  const size_t close = closing(pattern, open, cuts);
  if (close == std::string::npos || cuts.size() < 2) return expand_choices(pattern, open + 1, out);
  cuts.push_back(close);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const std::string choice = pattern.substr(cuts[i] + 1, cuts[i + 1] - cuts[i] - 1);
    expand_choices(pattern.substr(0, open) + choice + pattern.substr(close + 1), open, out);
  }
}

struct Part {
  std::string text;
  bool literal;
  bool any_folders;  // "**"
};
using Parts = std::vector<Part>;

Parts split(const std::string& pattern) {
  Parts parts;
  for (size_t at = 0; at < pattern.size();) {
    const size_t end = std::min(pattern.find('/', at), pattern.size());
    const std::string text = pattern.substr(at, end - at);
    if (!text.empty()) {
      parts.push_back({text, text.find_first_of("*?[\\") == std::string::npos, text == "**"});
    }
    at = end + 1;
  }
  if (!parts.empty() && parts.back().any_folders) parts.push_back({"*", false, false});
  return parts;
}

// ---- the walk ----

// How far into one pattern a folder has come.
struct State {
  const Parts* parts;
  size_t at;

  const Part& part() const { return (*parts)[at]; }
  bool last() const { return at + 1 == parts->size(); }
  bool operator==(const State&) const = default;
};
using States = std::vector<State>;

// Adds `state`, and what it may skip to when it stands at "**", once.
void add(States& states, State state) {
  for (;; ++state.at) {
    if (std::find(states.begin(), states.end(), state) == states.end()) states.push_back(state);
    if (!state.part().any_folders) return;
  }
}

struct Entry {
  std::string_view name;
  unsigned char type;  // DT_*
};

// The names in a folder, sorted; all in one piece of memory, for folders with millions of them.
class Folder {
 public:
  explicit Folder(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(path.empty() ? "." : path.c_str()),
                                                     ::closedir);
    if (!stream) {
      if (errno == ENOENT || errno == ENOTDIR) return;  // gone meanwhile, or no folder
      throw_io_error(path, "cannot list", errno);
    }
    std::vector<std::pair<size_t, unsigned char>> found;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(stream.get());
      if (!entry && errno != 0) throw_io_error(path, "cannot list", errno);
      if (!entry) break;
      if (!std::strcmp(entry->d_name, ".") || !std::strcmp(entry->d_name, "..")) continue;
      found.emplace_back(names_.size(), entry->d_type);
      names_.append(entry->d_name).push_back('\0');
    }
    entries_.reserve(found.size());
    for (const auto& [start, type] : found) entries_.push_back({names_.data() + start, type});
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string names_;
  std::vector<Entry> entries_;
};

std::string join(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(name);
}

class Walk {
 public:
  explicit Walk(PathList& out) : out_(out) {}

  void folder(const std::string& path, const States& states) {
    const bool literal =
        std::all_of(states.begin(), states.end(), [](const State& s) { return s.part().literal; });
    if (literal) return named(path, states);
    const Folder listing(path);
    for (const Entry& entry : listing.entries()) visit(path, entry, states);
  }

 private:
  // No listing where every name is known: the folder may be huge, or not to be listed by us.
  void named(const std::string& path, const States& states) {
    std::set<std::string_view> names;
    for (const State& state : states) names.insert(state.part().text);
    for (std::string_view name : names) visit(path, {name, DT_UNKNOWN}, states);
  }

  void visit(const std::string& path, Entry entry, const States& states) {
    bool wanted = false;
    States deeper;
    States by_link;  // without those that only "**" leads into
    for (const State& state : states) {
      const Part& part = state.part();
      if (part.any_folders) {
        if (entry.name.front() != '.') add(deeper, state);
        continue;
      }
      const bool match = part.literal
                             ? part.text == entry.name
                             : ::fnmatch(part.text.c_str(), entry.name.data(), FNM_PERIOD) == 0;
      if (!match) continue;
      if (state.last()) {
        wanted = true;
      } else {
        add(deeper, {state.parts, state.at + 1});
        add(by_link, {state.parts, state.at + 1});
      }
    }
    if (!wanted && deeper.empty()) return;
    bool link = entry.type == DT_LNK;
    bool is_folder = entry.type == DT_DIR;
    if (link || entry.type == DT_UNKNOWN) {
      struct stat status;
      const std::string full = join(path, entry.name);
      if (::lstat(full.c_str(), &status) != 0) return;
      link = S_ISLNK(status.st_mode);
      if (link && ::stat(full.c_str(), &status) != 0) return;
      is_folder = S_ISDIR(status.st_mode);
    }
    if (is_folder) {
      const States& next = link ? by_link : deeper;
      if (!next.empty()) folder(join(path, entry.name), next);
    } else if (wanted) {
      out_.append(path, entry.name);
    }
  }

  PathList& out_;
};

// ---- when nothing was found ----

bool is_folder(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

[[noreturn]] void nothing_found(const std::string& pattern) {
  if (is_folder(pattern)) {
    throw Error(
        fmt::format("{} is a folder, not a file", pattern),
        fmt::format("list what is in it: {}{}*", pattern, pattern.ends_with('/') ? "" : "/"));
  }
  std::string deepest = pattern.starts_with('/') ? "/" : "";
  bool stopped_at_literal = false;
  for (const Part& part : split(pattern)) {
    const std::string next = join(deepest, part.text);
    if (!part.literal || !is_folder(next)) {
      stopped_at_literal = part.literal;
      break;
    }
    deepest = next;
  }
  const std::string shown = deepest.empty() ? "the working folder" : deepest;
  throw Error(
      fmt::format("no file matches {}", pattern),
      stopped_at_literal
          ? fmt::format("{} exists, what follows does not: check the path", shown)
          : fmt::format("{} exists, but nothing in it matches: check the pattern's ending", shown));
}

bool is_file(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace

PathList list_files(const std::string& pattern) {
  PathList out;
  if (is_file(pattern)) {
    const size_t slash = pattern.rfind('/');
    const bool bare = slash == std::string::npos;
    out.append(bare ? "" : pattern.substr(0, std::max<size_t>(slash, 1)),
               bare ? pattern : pattern.substr(slash + 1));
    return out;
  }
  std::vector<std::string> patterns;
  expand_choices(pattern, 0, patterns);
  std::vector<Parts> parts;
  for (const std::string& one : patterns) parts.push_back(split(one));
  for (const bool absolute : {true, false}) {
    States states;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].empty() && patterns[i].starts_with('/') == absolute)
        add(states, {&parts[i], 0});
    }
    if (!states.empty()) Walk(out).folder(absolute ? "/" : "", states);
  }
  if (out.empty()) nothing_found(pattern);
  return out;
}

}  // namespace headway
