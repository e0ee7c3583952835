#include <algorithm>
#include <array>

#include "headway/trace/characters.h"
#include "headway/trace/harmless.h"
#include "headway/trace/messages.h"
#include "headway/trace/plain_words.h"
#include "headway/trace/redact.h"
#include "headway/trace/secret_shapes.h"

namespace headway {
namespace {

// "vocoder", "augmentor": a part of the program that is chosen from several.
bool names_a_doer(std::string_view word) {
  return word.size() >= 5 && (word.ends_with("er") || word.ends_with("or")) && word != "cipher" &&
         word != "master" && word != "authenticator" && word != "other" && word != "answer";
}

// "pooling", "normalization": a method that is chosen from several.
bool names_a_way(std::string_view word) {
  constexpr std::array<std::string_view, 5> kEndings = {"ing", "tion", "sion", "ment", "ance"};
  constexpr std::array<std::string_view, 9> kAsked = {
      "session",    "string",     "verification", "identification", "invitation",
      "encryption", "decryption", "registration", "greeting"};
  return word.size() >= 6 && !word.ends_with("thing") &&
         std::find(kAsked.begin(), kAsked.end(), word) == kAsked.end() &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return word.ends_with(ending); });
}

// "linestyle", "fontsize": two words of the list joined; "snakefile": any file.
bool is_joined(std::string_view word) {
  for (const std::string_view place : {"file", "dir", "path", "folder"})
    if (word.size() > place.size() + 2 && word.ends_with(place))
      return !is_secret_word(word.substr(0, word.size() - place.size()));
  for (size_t i = 3; i + 3 <= word.size(); ++i) {
    const std::string_view first = word.substr(0, i), second = word.substr(i);
    if (is_plain_word(first) && is_plain_word(second) && !says_nothing(second) &&
        !is_secret_word(first))
      return true;
  }
  return false;
}

// Prefixes of the settings of libraries and of the scheduler.
bool is_setting(std::string_view name) {
  constexpr std::array<std::string_view, 33> kHeads = {
      "PYTORCH_",    "TORCH_",  "TORCHELASTIC_", "TF_",    "CUDA_",     "CUDNN_",  "CUBLAS_",
      "NCCL_",       "OMP_",    "MKL_",          "KMP_",   "XLA_",      "JAX_",    "KERAS_",
      "SLURM_",      "MASTER_", "OMPI_",         "GLOO_",  "OPENBLAS_", "HSA_",    "RAY_",
      "TOKENIZERS_", "WANDB_",  "HF_",           "CONDA_", "XDG_",      "MLFLOW_", "LC_",
      "PYTHON",      "TERM",    "LANG",          "TZ",     "NVIDIA_"};
  return std::any_of(kHeads.begin(), kHeads.end(),
                     [&](std::string_view head) { return name.starts_with(head); });
}

// "SSH_AUTH_SOCK=/run/x", "--password-file /etc/x", "CREDENTIALS=~/gcloud/key.json": the location
// of a secret is not a secret.
bool is_place_of_secret(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 6> kPlaces = {"sock", "socket", "path",
                                                       "file", "dir",    "folder"};
  const std::vector<std::string> words = words_of(name);
  const auto place =
      words.empty() ? kPlaces.end() : std::find(kPlaces.begin(), kPlaces.end(), words.back());
  if (place < kPlaces.begin() + 2 && value.starts_with("/"))
    return std::all_of(value.begin(), value.end(), [](char c) {
      return is_alnum(c) || std::string_view("/.-_").find(c) != std::string_view::npos;
    });
  if (!is_plain_path(value) || is_shaped(value)) return false;
  const size_t dot = value.rfind('.');
  const bool rooted = value.starts_with("/") || value.starts_with("~/") ||
                      value.starts_with("./") || value.starts_with("../");
  if (place != kPlaces.end()) return rooted || value.find('/') != value.npos;
  if (dot == value.npos || !is_file_ending(value.substr(dot + 1))) return false;
  return rooted || is_made_of_names(value.substr(0, dot));
}

// "0.02": a rate, a probability.
bool is_fraction(std::string_view value) {
  const size_t dot = end_of(value, 0, is_digit);
  return value.size() <= 8 && dot == 1 && value.size() > 2 && value[dot] == '.' &&
         end_of(value, dot + 1, is_digit) == value.size();
}

}  // namespace

bool is_made_of_names(std::string_view core) {
  const std::vector<std::string> words = words_of(core);
  return !is_everyday_compound(core) && std::none_of(core.begin(), core.end(), is_digit) &&
         std::all_of(words.begin(), words.end(), [](const std::string& word) {
           return is_plain_word(word) || is_secret_word(word);
         });
}

bool may_stay_behind_secret(std::string_view name, std::string_view value) {
  return is_switch(value) || is_fraction(value) || is_place_of_secret(name, value);
}

bool names_a_login(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWords = {"u", "user", "username", "account"};
  std::vector<std::string> words = words_of(name);
  if (words.size() > 1 && (words.back() == "name" || words.back() == "id")) words.pop_back();
  return !words.empty() && std::find(kWords.begin(), kWords.end(), words.back()) != kWords.end();
}

bool says_nothing(std::string_view name) {
  constexpr std::array<std::string_view, 44> kWords = {
      "verification", "recovery", "security", "unlock", "foo",     "bar",    "baz",    "qux",
      "value",        "values",   "my",       "the",    "item",    "object", "field",  "entry",
      "str",          "opt",      "api",      "text",   "message", "string", "header", "headers",
      "arg",          "args",     "set",      "option", "options", "query",  "body",   "content",
      "code",         "word",     "words",    "phrase", "var",     "vars",   "param",  "private",
      "access",       "input",    "tokens",   "keys"};
  return names_a_login(name) || names_one_of(name, kWords);
}

bool names_free_text(std::string_view name) {
  constexpr std::array<std::string_view, 19> kWords = {
      "text",    "prompt", "prompts",     "note",  "notes",       "title", "comment",
      "caption", "author", "authors",     "name",  "description", "desc",  "tags",
      "summary", "tag",    "instruction", "label", "question"};
  return !names_a_secret(name) && names_one_of(name, kWords);
}

bool numbers_things(std::string_view name) {
  constexpr std::array<std::string_view, 18> kWords = {
      "run",   "runs",   "job",    "jobs", "sweep",      "sweeps",      "trial", "trials", "study",
      "group", "groups", "record", "blob", "experiment", "experiments", "task",  "commit", "array"};
  const std::vector<std::string> words = words_of(name);
  if (names_a_secret(name) || !names_one_of(name, kWords)) return false;
  return words.back() == "id" || names_one_of(words.back(), kWords);
}

bool is_number_of_thing(std::string_view text) {
  constexpr size_t kLongest = 12;
  const size_t sign = text.find_last_of("_-");  // "raysubmit_x8Kq2LmP"
  if (sign != text.npos && sign > 2 && text.size() - sign <= kLongest + 5)
    return std::all_of(text.begin() + sign + 1, text.end(), is_alnum) &&
           std::none_of(text.begin(), text.begin() + sign, is_digit) &&
           is_spoken_name(text.substr(0, sign));
  return is_hash(text) ||
         (text.size() <= kLongest &&
          std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || is_lower(c); }));
}

bool is_known_name(std::string_view name) {
  if (names_a_secret(name)) return false;
  std::vector<std::string> words = words_of(name);
  if (is_setting(name) && words.back().size() > 1 && !says_nothing(words.back())) return true;
  while (words.size() > 1 && words.back().size() == 1) words.pop_back();
  if (words.empty() || words.back().size() == 1 || says_nothing(name)) return false;
  std::string last = words.back();
  if (!is_plain_word(last) && last.ends_with("s")) last.pop_back();  // "colors"
  return (is_plain_word(last) || names_a_doer(last) || names_a_way(last) || is_joined(last)) &&
         (words.size() == 1 || !is_everyday_word(last)) &&
         std::all_of(words.begin(), words.end(), [](const std::string& w) { return is_spoken(w); });
}

}  // namespace headway
