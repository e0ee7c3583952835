#include "headway/check/facts/python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "headway/check/facts/ask_program.h"
#include "headway/core/json.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr double kPythonSeconds = 5;
constexpr size_t kMostEntries = 100000;  // of one folder

// Works from Python 3.6 on.
constexpr const char* kQuestion = R"(import json, site, sys
user = site.getusersitepackages() if sys.prefix == sys.base_prefix else ''
print(json.dumps({'version': '%d.%d.%d' % sys.version_info[:3], 'path': sys.path, 'user': user,
                  'standard': sorted(set(getattr(sys, 'stdlib_module_names', ())) |
                                     set(sys.builtin_module_names))}))
)";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string on_the_path(const std::string& program) {
  std::string folder;
  for (const char c : variable("PATH") + ":") {
    if (c != ':') {
      folder += c;
      continue;
    }
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    std::error_code error;
    if (::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, error)) return file;
    folder.clear();
  }
  return "";
}

std::string program_in(const std::string& environment) {
  for (const char* name : {"/bin/python", "/bin/python3"})
    if (::access((environment + name).c_str(), X_OK) == 0) return environment + name;
  return "";
}

bool in_one_folder(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto folder = [&](const std::string& file) {
    return fs::canonical(fs::path(file).parent_path(), error);
  };
  return folder(a) == folder(b) && !error;
}

void choose(const std::string& wanted, PythonFacts& out) {
  const std::string python3 = on_the_path("python3"), python = on_the_path("python");
  const std::string on_path = python3.empty() ? python : python3;
  if (!wanted.empty()) {
    out.chosen_by = "--python";
    out.program = wanted.find('/') == std::string::npos ? on_the_path(wanted) : wanted;
    if (out.program.empty()) out.trouble = fmt::format("there is no '{}' on the PATH", wanted);
    return;
  }
  std::string without;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string environment = variable(name);
    if (environment.empty()) continue;
    const std::string program = program_in(environment);
    if (program.empty()) {
      without = fmt::format(", because {} has no Python", name);
      continue;
    }
    out.chosen_by = name, out.program = program;
    if (!on_path.empty() && !in_one_folder(on_path, program)) out.on_path = on_path;
    return;
  }
  out.chosen_by = "PATH" + without, out.program = on_path;
}

void add_folder(const std::string& folder, PythonFacts& out) {
  std::error_code error;
  if (folder.empty() || !fs::exists(folder, error)) return;
  if (std::find(out.folders.begin(), out.folders.end(), folder) == out.folders.end())
    out.folders.push_back(folder);
}

void take_answer(const std::string& text, PythonFacts& out) {
  const nlohmann::json json = parse_json(text);
  const JsonView answer(json);
  out.version = answer["version"].as<std::string>();
  out.standard = answer["standard"].as<std::vector<std::string>>();
  std::string folder;
  for (const char c : variable("PYTHONPATH") + ":") {
    if (c != ':') {
      folder += c;
    } else {
      add_folder(folder, out);
      folder.clear();
    }
  }
  for (const std::string& each : answer["path"].as<std::vector<std::string>>())
    add_folder(each, out);
  if (variable("PYTHONNOUSERSITE").empty()) add_folder(answer["user"].as<std::string>(), out);
}

void list_packages(PythonFacts& out) {
  for (const std::string& folder : out.folders) {
    std::error_code error;
    size_t entries = 0;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++entries > kMostEntries) break;
      const PackageName package = package_of(at->path().filename().string());
      if (!package.name.empty()) out.packages.try_emplace(package.name, package.version);
    }
  }
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

PackageName package_of(const std::string& entry) {
  std::string_view text = entry;
  bool known = false;
  for (const std::string_view ending : {".dist-info", ".egg-info"}) {
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    known = true;
  }
  if (!known) return {};
  const size_t dash = text.find('-');
  PackageName out;
  for (const char c : text.substr(0, dash))
    out.name +=
        c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (dash != std::string_view::npos) out.version = text.substr(dash + 1);
  if (const size_t python = out.version.find("-py3"); python != std::string::npos)
    out.version.resize(python);
  return out;
}

std::string find_module(const std::vector<std::string>& folders, const std::string& module) {
  for (const std::string& folder : folders) {
    const std::string base = folder + "/" + module;
    if (exists(base)) return base;
    for (const char* ending : {".py", ".so", ".abi3.so", ".pyc"})
      if (exists(base + ending)) return base + ending;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with(module + ".cpython-") && name.ends_with(".so")) return at->path();
    }
  }
  return "";
}

PythonFacts read_python(const std::string& wanted) {
  PythonFacts out;
  choose(wanted, out);
  if (out.program.empty()) return out;
  const Answer answer = ask_program({out.program, "-I", "-B", "-c", kQuestion}, kPythonSeconds);
  if (!answer.good()) {
    const std::string said = answer.err.substr(0, answer.err.find_last_not_of('\n') + 1);
    out.trouble = !answer.trouble.empty()
                      ? answer.trouble
                      : fmt::format("'{}' ended with status {}{}{}", out.program, answer.status,
                                    said.empty() ? "" : ": ", said.substr(said.rfind('\n') + 1));
    return out;
  }
  try {
    take_answer(answer.out, out);
  } catch (const Error& e) {
    out.trouble =
        fmt::format("'{}' gave an answer that is not understood: {}", out.program, e.problem());
    return out;
  }
  list_packages(out);
  return out;
}

}  // namespace headway
