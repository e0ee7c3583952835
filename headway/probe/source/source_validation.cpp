#include "headway/probe/source/source_validation.h"

#include <algorithm>

#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

constexpr size_t kMostFunctions = 200, kMostStatements = 4000;

bool runs_without_gradients(std::string_view text) {
  return has_one_of(text, {"no_grad(", "inference_mode(", ".eval()", "training=False"});
}

bool trains(std::string_view text) {
  return has_one_of(text, {"backward(", ".step(", "GradientTape", "apply_gradients",
                           "apply_updates", ".fit(", "train_on_batch", "yield ", "enable_grad"});
}

bool is_a_number(std::string_view text) {
  return has_one_of(text, {" / ", ".item()", "float(", "mean("});
}

// "return wrong / count", "return loss / n, right / n"; not "return games, reward / n".
bool gives_numbers(const SourceStatement& statement) {
  if (!statement.starts_with("return ")) return false;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < statement.value.size(); ++i) {
    const char c = statement.value[i];
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (c != ',' || depth > 0) continue;
    if (!is_a_number(statement.value.substr(begin, i - begin))) return false;
    begin = i + 1;
  }
  return is_a_number(statement.value.substr(begin));
}

}  // namespace

std::vector<SourceRange> validating_functions(const PythonSource& source) {
  std::vector<SourceRange> out;
  const auto& statements = source.statements();
  if (statements.size() > kMostStatements) return out;
  // A source that never computes gradients may train by what it measures.
  if (std::none_of(statements.begin(), statements.end(),
                   [](const SourceStatement& each) { return trains(each.text); }))
    return out;
  for (size_t i = 0; i < statements.size() && out.size() < kMostFunctions; ++i) {
    if (!statements[i].starts_with("def ")) continue;
    bool quiet = i > 0 && statements[i - 1].starts_with("@") &&
                 runs_without_gradients(statements[i - 1].text);
    bool number = false, training = false;
    size_t last = i;
    for (size_t k = i + 1; k < statements.size() && source.is_within(k, i); ++k) {
      last = k;
      quiet |= runs_without_gradients(statements[k].text);
      training |= trains(statements[k].text);
      number |= gives_numbers(statements[k]);
    }
    if (quiet && number && !training) out.push_back({statements[i].first, statements[last].last});
  }
  return out;
}

}  // namespace headway
