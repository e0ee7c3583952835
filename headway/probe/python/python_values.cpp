#include "headway/probe/python/python_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/probe/output/loss_words.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

bool is_one_of(const std::string& name, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

bool contains(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

char kind_of_variable(const std::string& name) {
  if (names_a_secret(name)) return 0;
  if (is_one_of(name, {"step",       "global_step",
                       "batch_idx",  "batch_index",
                       "batch_id",   "iteration",
                       "it",         "i",
                       "idx",        "index",
                       "epoch",      "begin_step",
                       "end_step",   "n_steps",
                       "batch",      "steps_per_epoch",
                       "epochs",     "n_epochs",
                       "num_epochs", "num_workers",
                       "batch_size", "batch_no",
                       "iter",       "iters",
                       "update",     "minibatch",
                       "n",          "k",
                       "t",          "b"}))
    return 'n';
  if (names_a_loss(name) || name == "running_loss") return 'f';
  if (contains(name, "path") ||
      is_one_of(name, {"file", "filename", "fname", "file_name", "f", "p"}))
    return 's';
  if (is_one_of(name, {"batch", "batch_images", "images", "batch_x", "out", "items", "samples",
                       "batch_labels", "results", "xs", "x_batch", "rows", "buffer"}))
    return 'l';
  return 0;
}

std::vector<SeenValue> PythonValues::read(const PythonFrame& frame, bool users) {
  std::vector<SeenValue> out;
  for (const auto& [name, object] : attributes_.variables_of(frame)) {
    if (!kind_of_variable(name)) continue;
    std::string value = value_text(name, object);
    if (!value.empty())
      out.push_back(
          {.function = frame.code->function, .name = name, .value = value, .users = users});
  }
  return out;
}

std::string PythonValues::value_text(const std::string& name, uint64_t object) {
  char copy[32];
  if (!stacks_.memory().read(object, copy, sizeof copy)) return "";
  const TargetBytes head(copy, sizeof copy);
  const int64_t size = *head.at<int64_t>(16);
  const std::string kind = stacks_.objects().type_name(*head.at<uint64_t>(8));
  const char wanted = kind_of_variable(name);
  if (kind == "int" && wanted == 'n') {
    const auto value = stacks_.objects().small_int(object);
    return value ? std::to_string(*value) : "";
  }
  if (kind == "float" && (wanted == 'f' || wanted == 'n'))
    return fmt::format("{:.6g}", *head.at<double>(16));
  // NumPy's scalars keep their number at the same offset.
  if (kind == "numpy.float64" && wanted == 'f') return fmt::format("{:.6g}", *head.at<double>(16));
  if (kind == "numpy.float32" && wanted == 'f') return fmt::format("{:.6g}", *head.at<float>(16));
  if (kind == "str" && wanted == 's')
    return redact_variable(name, stacks_.objects().text(object, 300).value_or(""));
  if (kind == "list" && (wanted == 'l' || name == "batch"))
    return size >= 0 && size < (1 << 30) ? fmt::format("list of {}", size) : "";
  return "";
}

}  // namespace headway
