#include "headway/probe/source/program_facts.h"

#include <algorithm>
#include <cstdlib>

#include "headway/probe/process/target_file.h"
#include "headway/probe/process/thread_settings.h"
#include "headway/probe/python/python_values.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kMostMissing = 5, kMostEndless = 20, kMostSettings = 20, kMostCompiled = 60;
constexpr int64_t kLargestBatch = 1 << 24;

template <typename T>
bool holds(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A path named by a variable that does not exist.
bool is_missing(const SeenValue& value, pid_t main) {
  if (!value.users || kind_of_variable(value.name) != 's' || value.value.size() < 3) return false;
  if (value.value.find('.') == std::string::npos || value.value.find("://") != std::string::npos)
    return false;
  return !file_exists_for(main, value.value);
}

// The first one found is kept.
void note_place(Target& target, const std::string& file, int64_t line, SeenFrame& place) {
  if (line > 0 && place.line == 0)
    place = {redact_path(file), "", line, true, target.sources.text(file, line)};
}

bool is_known(Hint kind, const Outside& out) {
  return std::any_of(out.hints.begin(), out.hints.end(),
                     [&](const SeenHint& each) { return each.kind == kind; });
}

void note_hint(Target& target, const std::string& file, const SourceHint& hint, Outside& out) {
  if (is_known(hint.kind, out)) return;
  note_place(target, file, hint.line, out.hints.emplace_back(SeenHint{hint.kind, {}}).at);
}

}  // namespace

void note_source(Target& target, const PythonThread& thread, Outside& out) {
  for (const PythonFrame& frame : thread.frames) {
    const PythonCode& code = *frame.code;
    if (!code.users) continue;
    const SourceFacts& facts = target.sources.facts(code.file);
    note_place(target, code.file, facts.decodes, out.decodes_at);
    note_place(target, code.file, facts.positive_loss, out.positive_loss_at);
    note_place(target, code.file, facts.crossentropy, out.crossentropy_at);
    if (out.learning_rate_at.line == 0) out.learning_rate = facts.rate;
    note_place(target, code.file, facts.learning_rate, out.learning_rate_at);
    note_place(target, code.file, facts.schedule, out.schedule_at);
    note_place(target, code.file, facts.hooks, out.hooks_at);
    note_place(target, code.file, facts.shuffles, out.shuffles_at);
    note_place(target, code.file, facts.after_prefetch, out.after_prefetch_at);
    note_place(target, code.file, facts.serial_map, out.serial_map_at);
    note_place(target, code.file, facts.keeps, out.keeps_at);
    for (const SourceHint& hint : facts.hints) note_hint(target, code.file, hint, out);
    if (facts.batch_size > out.written_batch_size) {
      out.batch_size_at = {}, out.written_batch_size = facts.batch_size;
      note_place(target, code.file, facts.batch, out.batch_size_at);
    }
    if (out.endless.size() > kMostEndless) continue;
    for (const std::string& name : target.sources.endless_generators(code.file))
      if (!holds(out.endless_generators, name)) out.endless_generators.push_back(name);
    if (!holds(out.endless, code.function) &&
        target.sources.has_endless_loop(code.file, code.first_line))
      out.endless.push_back(code.function);
  }
}

void note_shape_clash(Target& target, const PythonThread& thread, Outside& out) {
  if (!target.clash() || is_known(Hint::kShapeClash, out)) return;
  for (const PythonFrame& frame : thread.frames) {
    if (!frame.code->users) continue;
    const std::string& file = frame.code->file;
    const int64_t line = target.clash()->line_in(frame, target.sources.facts(file).differences);
    if (line > 0) return note_hint(target, file, {Hint::kShapeClash, line}, out);
  }
}

void note_thread_settings(Target& target, const PythonThread& thread, Outside& out) {
  for (const PythonFrame& frame : thread.frames) {
    if (!frame.code->users) continue;
    for (const SeenThreadSetting& setting : target.sources.thread_settings(frame.code->file)) {
      const bool known =
          std::any_of(out.settings.begin(), out.settings.end(),
                      [&](const SeenThreadSetting& each) { return each.at == setting.at; });
      if (!known && out.settings.size() < kMostSettings) out.settings.push_back(setting);
    }
  }
}

void note_surroundings(const Surroundings& around, pid_t main, Outside& out) {
  if (!around.network_files.empty()) out.network_files = around.network_files;
  out.shm_bytes = around.shm_bytes;
  out.shm_free_bytes = out.shm_free_bytes < 0 ? around.shm_free_bytes
                                              : std::min(out.shm_free_bytes, around.shm_free_bytes);
  out.cuda_libraries = around.cuda_libraries;
  if (around.framework != Framework::kNone) out.framework = around.framework;
  out.reference_blas = around.reference_blas;
  out.open_files = around.open_files, out.open_files_limit = around.open_files_limit;
  std::erase_if(out.settings, [](const SeenThreadSetting& each) { return each.at.line == 0; });
  for (SeenThreadSetting& setting : environment_settings_of(main))
    out.settings.push_back(std::move(setting));
}

void note_compiled(int64_t pieces, double at_s, int64_t steps, Outside& out) {
  if (out.compiled.size() == kMostCompiled) out.compiled.erase(out.compiled.begin());
  out.compiled.push_back({.at_s = at_s, .steps = steps, .pieces = pieces});
}

void note_values(const std::vector<SeenValue>& values, pid_t main, Outside& out) {
  out.batch_is_empty = false;
  int64_t of_the_trainer = 0, of_the_user = 0;
  for (const SeenValue& value : values) {
    if (value.name == "batch_size") {
      const int64_t size = std::atoll(value.value.c_str());
      if (size > 0 && size < kLargestBatch) (value.users ? of_the_user : of_the_trainer) = size;
    }
    out.batch_is_empty |= value.users && value.value == "list of 0";
    if (out.missing_files.size() < kMostMissing && !holds(out.missing_files, value.value) &&
        is_missing(value, main))
      out.missing_files.push_back(value.value);
  }
  if (of_the_trainer > 0) out.batch_size = of_the_trainer;
  else if (of_the_user > 0) out.batch_size = of_the_user;
}

}  // namespace headway
