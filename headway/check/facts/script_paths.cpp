#include "headway/check/facts/script_paths.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

constexpr int kDeepest = 4;  // names that are assigned names

// Calls whose first argument is read, by the last part of their name.
bool reads(const SourceCall& call) {
  const std::string_view name = call.last_name(), owner = call.owner();
  if (name == "open") return owner.empty() || is_one_of(owner, {"Image", "gzip", "h5py", "tf.io"});
  if (name == "load") return is_one_of(owner, {"np", "numpy", "torch", "joblib", "librosa"});
  return is_one_of(name, {"read_csv",
                          "read_parquet",
                          "read_json",
                          "read_excel",
                          "read_table",
                          "loadtxt",
                          "genfromtxt",
                          "memmap",
                          "imread",
                          "ImageFolder",
                          "DatasetFolder",
                          "listdir",
                          "scandir",
                          "walk",
                          "TFRecordDataset",
                          "TextLineDataset",
                          "File",
                          "image_dataset_from_directory",
                          "text_dataset_from_directory",
                          "flow_from_directory",
                          "load_from_disk",
                          "load_file",
                          "read_image",
                          "read_file"});
}

// Calls that make what they are given, or ask whether it is there.
bool makes_or_asks(const SourceCall& call) {
  return is_one_of(call.last_name(), {"makedirs",
                                      "mkdir",
                                      "save",
                                      "savez",
                                      "savez_compressed",
                                      "savetxt",
                                      "to_csv",
                                      "to_parquet",
                                      "dump",
                                      "write_text",
                                      "write_bytes",
                                      "urlretrieve",
                                      "download",
                                      "extractall",
                                      "save_to_disk",
                                      "save_weights",
                                      "save_model",
                                      "imwrite",
                                      "exists",
                                      "isfile",
                                      "isdir",
                                      "is_file",
                                      "is_dir",
                                      "get_file",
                                      "copytree",
                                      "copyfile",
                                      "hf_hub_download",
                                      "snapshot_download",
                                      "TFRecordWriter",
                                      "unpack_archive"});
}

bool writes(const SourceCall& call) {
  const std::string_view mode = call.given("mode").empty() ? call.at(1) : call.given("mode");
  const std::string text = literal_of(mode);
  return call.last_name() == "open" && text.find_first_of("wax") != std::string::npos;
}

bool downloads(const SourceCall& call) { return call.given("download") == "True"; }

// The last assignment of this name to something.
std::string_view value_of_name(const PythonSource& source, std::string_view name) {
  std::string_view out;
  for (const SourceStatement& each : source.statements())
    if (each.assigns == name) {
      if (!out.empty()) return {};  // several: which one counts is not known
      out = each.value;
    }
  return out;
}

// The `default=` of add_argument("--data-dir"), for args.data_dir.
std::string_view default_of_argument(const PythonSource& source, std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || !is_one_of(name.substr(0, dot), {"args", "opt", "opts"}))
    return {};
  const std::string_view wanted = name.substr(dot + 1);
  for (const SourceCall& call : source.calls()) {
    if (call.last_name() != "add_argument") continue;
    for (const SourceArgument& each : call.arguments) {
      std::string option = literal_of(each.text);
      if (!each.name.empty() || !option.starts_with("--")) continue;
      option = option.substr(2);
      std::replace(option.begin(), option.end(), '-', '_');
      if (option == wanted) return call.given("default");
    }
  }
  return {};
}

std::string resolve(const PythonSource& source, std::string_view text, int depth) {
  text = trimmed(text);
  if (text.empty() || depth > kDeepest) return "";
  if (const std::string literal = literal_of(text); !literal.empty()) return literal;
  for (const std::string_view maker : {"Path(", "pathlib.Path(", "str("})
    if (text.starts_with(maker) && text.ends_with(")"))
      return resolve(source, text.substr(maker.size(), text.size() - maker.size() - 1), depth + 1);
  constexpr std::string_view kJoin = "os.path.join(";
  const bool join = text.starts_with(kJoin) && text.ends_with(")");
  const std::string_view parts =
      join ? text.substr(kJoin.size(), text.size() - kJoin.size() - 1) : text;
  const char sign = join ? ',' : '/';
  if (const size_t at = parts.rfind(sign);
      at != std::string_view::npos && parts.find_first_of("()[]{}+%") == std::string_view::npos) {
    const std::string_view left = parts.substr(0, at);
    const std::string first =
        join && left.find(',') != std::string_view::npos
            ? resolve(source, std::string(kJoin) + std::string(left) + ")", depth + 1)
            : resolve(source, left, depth + 1);
    const std::string last = resolve(source, parts.substr(at + 1), depth + 1);
    return first.empty() || last.empty() ? "" : first + "/" + last;
  }
  std::string_view value = value_of_name(source, text);
  if (value.empty()) value = default_of_argument(source, text);
  return resolve(source, value, depth + 1);
}

bool is_path(const std::string& text) {
  return text.size() > 1 && text.size() < 1000 && text.find("://") == std::string::npos &&
         text.find_first_of("*?[{\n%<>|") == std::string::npos;
}

}  // namespace

std::string literal_of(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && (text[0] == 'r' || text[0] == 'R')) text.remove_prefix(1);
  if (text.size() < 3 || (text[0] != '"' && text[0] != '\'') || text.back() != text[0]) return "";
  const std::string_view inside = text.substr(1, text.size() - 2);
  return inside.find_first_of("\"'\\") == std::string_view::npos ? std::string(inside) : "";
}

std::string text_of_expression(const PythonSource& source, std::string_view expression) {
  return resolve(source, expression, 0);
}

std::vector<ScriptNeed> missing_paths_in(const std::string& file, const PythonSource& source) {
  std::set<std::string> excused;
  const auto texts_in = [&](const SourceCall& call, auto take) {
    for (const SourceArgument& each : call.arguments)
      if (const std::string text = text_of_expression(source, each.text); !text.empty()) take(text);
    if (const std::string text = text_of_expression(source, call.owner()); !text.empty())
      take(text);
  };
  for (const SourceCall& call : source.calls())
    if (makes_or_asks(call) || writes(call) || downloads(call))
      texts_in(call, [&](const std::string& text) { excused.insert(text); });
  std::vector<ScriptNeed> out;
  for (const SourceCall& call : source.calls()) {
    if (!reads(call) || writes(call) || downloads(call)) continue;
    std::string_view argument = call.at(0);
    for (const char* keyword : {"root", "directory", "filenames", "path", "file"})
      if (argument.empty()) argument = call.given(keyword);
    const std::string path = text_of_expression(source, argument);
    std::error_code error;
    if (!is_path(path) || excused.count(path) || std::filesystem::exists(path, error)) continue;
    // What is made in a folder that the script makes is not there yet either.
    const bool inside_made = std::any_of(excused.begin(), excused.end(), [&](const auto& each) {
      return path.starts_with(each + "/");
    });
    if (inside_made || !excused.insert(path).second) continue;
    out.push_back({path, call.line, file, source.around(call.statement, "try") != kNowhere});
  }
  return out;
}

}  // namespace headway
