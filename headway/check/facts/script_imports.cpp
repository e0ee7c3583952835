#include "headway/check/facts/script_imports.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "headway/check/facts/python.h"
#include "headway/core/regular_file.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestSource = 4 << 20;
constexpr size_t kMostLines = 5000, kMostSources = 64;

std::string first_part(std::string_view name) {
  name = trimmed(name);
  return std::string(name.substr(0, name.find_first_of(". (")));
}

bool is_optional(const PythonSource& source, size_t statement) {
  for (size_t at = source.statements()[statement].inside; at != kNowhere;
       at = source.statements()[at].inside) {
    const SourceStatement& around = source.statements()[at];
    for (const char* word : {"try", "except", "else", "if ", "elif ", "def ", "async def "})
      if (around.starts_with(word)) return !around.text.starts_with("if __name__");
  }
  return false;
}

bool is_for_type_checkers(const PythonSource& source, size_t statement) {
  const size_t around = source.statements()[statement].inside;
  return around != kNowhere &&
         source.statements()[around].text.find("TYPE_CHECKING") != std::string_view::npos;
}

// "import a.b as c, d" -> a, d; "from x.y import z" -> x.
std::vector<std::string> modules_in(std::string_view text) {
  std::vector<std::string> out;
  if (text.starts_with("from ")) {
    const std::string module = first_part(text.substr(5));
    if (!module.empty() && text.find(" import") != std::string_view::npos) out.push_back(module);
  } else if (text.starts_with("import ")) {
    std::string_view rest = text.substr(7);
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find_first_of(",;"), rest.size());
      if (const std::string module = first_part(rest.substr(0, comma)); !module.empty())
        out.push_back(module);
      if (comma == rest.size() || rest[comma] == ';') break;
      rest.remove_prefix(comma + 1);
    }
  }
  return out;
}

// Editable installs bring modules by a finder, a file that names them.
bool is_editable(const PythonFacts& python, const std::string& module) {
  for (const std::string& folder : python.folders) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with("__editable__") && name.find(module) != std::string::npos) return true;
    }
  }
  return false;
}

bool is_there(const PythonFacts& python, const std::string& module) {
  return std::binary_search(python.standard.begin(), python.standard.end(), module) ||
         module == "__future__" || !find_module(python.folders, module).empty() ||
         is_editable(python, module);
}

class Walk {
 public:
  explicit Walk(const PythonFacts& python) : python_(python) {}

  void read(const std::string& path, const PythonSource& source, bool maybe) {
    std::string folder = fs::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    for (const SourceImport& each : imports_of(source)) {
      if (!seen_.insert(each.module).second) continue;
      const std::string own = find_module({root_.empty() ? folder : root_}, each.module);
      if (root_.empty()) root_ = folder;
      if (!own.empty()) {
        follow(own, maybe || each.maybe);
      } else if (!is_there(python_, each.module)) {
        missing_.push_back({each.module, each.line, path, maybe || each.maybe});
      }
    }
  }
  std::vector<ScriptNeed> missing() && { return std::move(missing_); }

 private:
  void follow(const std::string& module, bool maybe) {
    std::error_code error;
    const std::string file = fs::is_directory(module, error) ? module + "/__init__.py" : module;
    if (!fs::is_regular_file(file, error)) return;
    if (!file.ends_with(".py") || ++sources_ > kMostSources) return;
    const std::vector<std::string> lines = source_lines_of(file);
    if (!lines.empty()) read(file, PythonSource(lines), maybe);
  }

  const PythonFacts& python_;
  std::string root_;  // the script's folder: Python looks there first
  size_t sources_ = 0;
  std::set<std::string> seen_;
  std::vector<ScriptNeed> missing_;
};

}  // namespace

std::vector<SourceImport> imports_of(const PythonSource& source) {
  std::vector<SourceImport> out;
  for (size_t i = 0; i < source.statements().size(); ++i) {
    const SourceStatement& each = source.statements()[i];
    if (is_for_type_checkers(source, i)) continue;
    for (std::string& module : modules_in(each.text))
      out.push_back({std::move(module), each.first, is_optional(source, i)});
  }
  return out;
}

std::vector<ScriptNeed> missing_modules(const std::string& path, const PythonSource& source,
                                        const PythonFacts& python) {
  Walk walk(python);
  walk.read(path, source, false);
  return std::move(walk).missing();
}

std::vector<std::string> source_lines_of(const std::string& path) {
  std::vector<std::string> out;
  std::istringstream text(read_regular(path, kLargestSource));
  for (std::string line; out.size() < kMostLines && std::getline(text, line);) out.push_back(line);
  return out;
}

}  // namespace headway
