#include "headway/probe/source_lines.h"

#include <fmt/format.h>

#include <fstream>

#include "headway/probe/redact.h"

namespace headway {
namespace {

constexpr size_t kMostLines = 50000, kMostFiles = 64, kLongestLine = 160;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

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
    if (files_.size() >= kMostFiles) files_.clear();
    known = files_.try_emplace(file).first;
    const char* folder = file[0] == '/' ? "root" : "cwd/";
    std::ifstream in(fmt::format("/proc/{}/{}{}", pid_, folder, file));
    for (std::string each; std::getline(in, each) && known->second.size() < kMostLines;)
      known->second.push_back(each.substr(0, kLongestLine));
  }
  return known->second;
}

std::string SourceLines::text(const std::string& file, int64_t line) {
  if (file.empty() || file[0] == '<' || line <= 0) return "";
  const std::vector<std::string>& lines = lines_of(file);
  if (static_cast<size_t>(line) > lines.size()) return "";
  const std::string& whole = lines[static_cast<size_t>(line - 1)];
  const size_t begin = whole.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return redacted(whole.substr(begin, whole.find_last_not_of(" \t\r") - begin + 1));
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
    if (begin <= margin) return false;  // the function is over
    if (lines[at].find("while True") == begin || lines[at].find("while 1:") == begin) return true;
  }
  return false;
}

}  // namespace headway
