#include "headway/check/facts/script.h"

#include <algorithm>
#include <charconv>

#include "headway/check/facts/script_imports.h"
#include "headway/check/facts/script_paths.h"
#include "headway/core/error.h"
#include "headway/probe/process/thread_settings.h"
#include "headway/probe/source/python_source.h"
#include "headway/probe/source/source_facts.h"
#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

// A number that is written here, or assigned to this name once.
int64_t number_of(const PythonSource& source, std::string_view text) {
  for (int depth = 0; depth < 4; ++depth) {
    text = trimmed(text);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    std::string_view assigned;
    for (const SourceStatement& each : source.statements())
      if (each.assigns == text) assigned = each.value;
    if (assigned.empty()) return 0;
    text = assigned;
  }
  return 0;
}

// "cuda:3", "cuda", "/GPU:1": the number of the GPU; -1: none is named.
int64_t gpu_in(const std::string& text) {
  for (const std::string_view word : {"cuda", "/GPU", "/gpu", "/device:GPU"}) {
    if (!text.starts_with(word)) continue;
    const std::string_view rest = std::string_view(text).substr(word.size());
    if (rest.empty()) return 0;
    if (rest[0] != ':') continue;
    int64_t number = 0;
    std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
    return number;
  }
  return -1;
}

void need_gpu(int64_t number, int64_t line, ScriptFacts& out) {
  if (out.gpu_line == 0) out.gpu_line = line;
  out.highest_gpu = std::max(out.highest_gpu, number);
}

void read_gpu_call(const PythonSource& source, const SourceCall& call, ScriptFacts& out) {
  const std::string_view name = call.last_name();
  if (name == "cuda" && !call.owner().empty()) need_gpu(0, call.line, out);
  if (is_one_of(name, {"to", "device", "Device", "set_device", "Generator", "autocast"}))
    for (const SourceArgument& each : call.arguments)
      if (const int64_t gpu = gpu_in(literal_of(each.text)); gpu >= 0)
        need_gpu(gpu, call.line, out);
  if (const int64_t gpu = gpu_in(literal_of(call.given("device"))); gpu >= 0)
    need_gpu(gpu, call.line, out);
  if (name == "Trainer" && is_one_of(literal_of(call.given("accelerator")), {"gpu", "cuda"})) {
    const int64_t devices = number_of(source, call.given("devices"));
    need_gpu(std::max<int64_t>(devices, 1) - 1, call.line, out);
  }
  if (name == "init_process_group" &&
      literal_of(call.given("backend").empty() ? call.at(0) : call.given("backend")) == "nccl")
    need_gpu(0, call.line, out);
}

// device = "cuda:1", and device = "cuda" if torch.cuda.is_available() else "cpu"
void read_gpu_assignment(const SourceStatement& statement, ScriptFacts& out) {
  if (statement.assigns.empty()) return;
  int64_t gpu = gpu_in(literal_of(statement.value));
  if (gpu < 0 && has(statement.value, " if ") && has_one_of(statement.value, {"'cuda", "\"cuda"}))
    gpu = 0;
  if (gpu >= 0) need_gpu(gpu, statement.first, out);
}

bool hides_all(const std::string& value) { return value.empty() || value.starts_with("-"); }

void read_visible_devices(const PythonSource& source, ScriptFacts& out) {
  bool imported = false;
  for (const SourceStatement& each : source.statements()) {
    const bool import = each.starts_with("import ") || each.starts_with("from ");
    imported |= import && (has_word(each.text, "torch") || has_word(each.text, "tensorflow") ||
                           has_word(each.text, "jax") || has_word(each.text, "keras"));
    if (!has(each.text, "environ") || !has(each.text, "CUDA_VISIBLE_DEVICES")) continue;
    if (each.value == each.text) continue;
    const std::string_view value = trimmed(each.value);
    const bool empty = value == "\"\"" || value == "''";
    if (!empty && literal_of(value).empty()) continue;
    if (hides_all(literal_of(value))) out.hides_gpus_line = each.first;
    if (imported) out.late_visible_line = each.first;
  }
}

void read_loaders(const PythonSource& source, ScriptFacts& out) {
  for (const SourceCall& call : source.calls()) {
    if (call.last_name() != "DataLoader") continue;
    const int64_t workers = number_of(source, call.given("num_workers"));
    if (workers > out.workers) out.workers = workers, out.workers_line = call.line;
    const int64_t batch = number_of(source, call.given("batch_size"));
    if (batch > out.batch) out.batch = batch, out.batch_line = call.line;
  }
}

void read_settings(const std::vector<std::string>& lines, ScriptFacts& out) {
  int64_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    SettingCall call = setting_in_line(line);
    if (call.threads == 0) continue;
    SeenFrame at{.file = out.path, .line = number, .users = true};
    out.settings.push_back({std::move(call.text), std::move(at), call.threads});
  }
}

}  // namespace

ScriptFacts read_script(const std::string& path, const PythonFacts& python) {
  ScriptFacts out{.path = path};
  std::vector<std::string> lines;
  try {
    lines = source_lines_of(path);
  } catch (const Error& e) {
    out.trouble = e.problem();
    return out;
  }
  const PythonSource source(lines);
  if (!python.version.empty()) out.modules = missing_modules(path, source, python);
  out.missing_paths = missing_paths_in(path, source);
  for (const SourceCall& call : source.calls()) {
    read_gpu_call(source, call, out);
    out.gpu_asked_first |= call.last_name() == "is_available" ||
                           call.last_name() == "device_count" ||
                           call.last_name() == "list_physical_devices";
  }
  for (const SourceStatement& each : source.statements()) read_gpu_assignment(each, out);
  read_visible_devices(source, out);
  read_loaders(source, out);
  if (out.batch == 0) {
    const SourceFacts facts = facts_in(lines);
    out.batch = facts.batch_size, out.batch_line = facts.batch;
  }
  read_settings(lines, out);
  return out;
}

}  // namespace headway
