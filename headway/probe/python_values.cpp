#include "headway/probe/python_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "headway/probe/loss_words.h"
#include "headway/trace/redact.h"

namespace headway {
namespace {

constexpr size_t kMostNames = 5000;
constexpr int64_t kMostGlobals = 2000;

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
  std::vector<SeenValue> out =
      frame.code->function == "<module>" ? read_globals(frame) : read_locals(frame);
  for (SeenValue& value : out) value.function = frame.code->function, value.users = users;
  return out;
}

std::vector<SeenValue> PythonValues::read_locals(const PythonFrame& frame) {
  std::vector<SeenValue> out;
  const auto& names = frame.code->locals;
  if (names.empty()) return out;
  std::vector<uint64_t> objects(names.size());
  if (!stacks_.memory().read(stacks_.offsets().frame_values.in(frame.address), objects.data(),
                             objects.size() * sizeof(uint64_t)))
    return out;
  for (size_t i = 0; i < names.size(); ++i) {
    objects[i] &= ~stacks_.offsets().tag_bits;
    if (objects[i] == 0 || !kind_of_variable(names[i])) continue;
    std::string value = value_text(names[i], objects[i]);
    if (!value.empty()) out.push_back({.name = names[i], .value = std::move(value)});
  }
  return out;
}

std::vector<SeenValue> PythonValues::read_globals(const PythonFrame& frame) {
  std::vector<SeenValue> out;
  const auto dict = stacks_.memory().get(frame.address, stacks_.offsets().frame_globals);
  for (const auto& [key, object] : stacks_.objects().entries_of(dict.value_or(0), kMostGlobals)) {
    const std::string& name = name_at(key);
    if (!kind_of_variable(name)) continue;
    std::string value = value_text(name, object);
    if (!value.empty()) out.push_back({.name = name, .value = std::move(value)});
  }
  return out;
}

const std::string& PythonValues::name_at(uint64_t object) {
  const auto known = names_.find(object);
  if (known != names_.end()) return known->second;
  if (names_.size() > kMostNames) names_.clear();
  return names_[object] = stacks_.objects().text(object, 64).value_or("");
}

std::string PythonValues::value_text(const std::string& name, uint64_t object) {
  char copy[32];
  if (!stacks_.memory().read(object, copy, sizeof copy)) return "";
  const TargetBytes head(copy, sizeof copy);
  const int64_t size = *head.at<int64_t>(16);
  const std::string kind = stacks_.objects().type_name(*head.at<uint64_t>(8));
  const char wanted = kind_of_variable(name);
  if (kind == "int" && wanted == 'n') {
    // Up to 3.11 the sign and number of digits; from 3.12 a tag with the count above three bits.
    const bool tagged(stacks_.offsets().gil);
    const bool negative = tagged ? (size & 3) == 2 : size < 0;
    const uint64_t digits = tagged     ? uint64_t(size) >> 3
                            : negative ? -uint64_t(size)
                                       : uint64_t(size);
    if (digits > 2) return "";
    int64_t value = digits > 0 ? *head.at<uint32_t>(24) : 0;
    if (digits > 1) value |= int64_t(*head.at<uint32_t>(28)) << 30;
    return std::to_string(negative ? -value : value);
  }
  if (kind == "float" && (wanted == 'f' || wanted == 'n'))
    return fmt::format("{:.6g}", *head.at<double>(16));
  // NumPy's scalars hold their number in the same place.
  if (kind == "numpy.float64" && wanted == 'f') return fmt::format("{:.6g}", *head.at<double>(16));
  if (kind == "numpy.float32" && wanted == 'f') return fmt::format("{:.6g}", *head.at<float>(16));
  if (kind == "str" && wanted == 's')
    return redact_variable(name, stacks_.objects().text(object, 300).value_or(""));
  if (kind == "list" && (wanted == 'l' || name == "batch"))
    return size >= 0 && size < (1 << 30) ? fmt::format("list of {}", size) : "";
  return "";
}

}  // namespace headway
