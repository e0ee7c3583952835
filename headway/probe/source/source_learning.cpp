#include "headway/probe/source/source_learning.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "headway/probe/source/source_hints.h"
#include "headway/probe/source/source_model.h"
#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

// Is an activation applied, in the model or on the way to the loss?
bool applies_activation(const PythonSource& source) {
  return std::any_of(source.calls().begin(), source.calls().end(), [](const SourceCall& call) {
    return is_one_of(call.last_name(), {"softmax", "log_softmax", "sigmoid", "Softmax",
                                        "LogSoftmax", "Sigmoid", "Activation", "Lambda", "log"});
  });
}

// The model's output does not fit the loss.
void note_mismatch(const PythonSource& source, Hints& hints) {
  const ModelOutput output = output_of_model(source);
  const bool soft = output.end == ModelEnd::kSoftmax || output.end == ModelEnd::kSigmoid;
  const bool bounded = soft || output.end == ModelEnd::kTanh;
  if (output.end == ModelEnd::kSoftmax && output.units == 1)
    hints.add(Hint::kOneUnitSoftmax, output.line);
  switch (taken_by_loss(source)) {
    case LossTakes::kLogits:
    case LossTakes::kLogit:
      if (soft) hints.add(Hint::kSecondSoftmax, output.line);
      break;
    case LossTakes::kProbabilities:
    case LossTakes::kLogProbabilities:
      if (output.end == ModelEnd::kPlain && !applies_activation(source))
        hints.add(Hint::kMissingSoftmax, output.line);
      break;
    case LossTakes::kNumbers:
      if (output.end == ModelEnd::kRelu) hints.add(Hint::kRectifiedOutput, output.line);
      if (bounded) hints.add(Hint::kBoundedOutput, output.line);
      break;
    case LossTakes::kUnknown: break;
  }
}

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

// Is this name, or an attribute called that of any object, multiplied by @ in this text?
bool multiplies(std::string_view text, std::string_view name) {
  const auto is_it = [&](std::string_view other) {
    return !other.empty() && (other == name || other.substr(other.rfind('.') + 1) == name);
  };
  for (size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    const std::string_view left = trimmed(text.substr(0, at)), right = trimmed(text.substr(at + 1));
    size_t from = left.size(), to = 0;
    while (from > 0 && is_part_of_name(left[from - 1])) --from;
    while (to < right.size() && is_part_of_name(right[to])) ++to;
    if (is_it(left.substr(from)) || is_it(right.substr(0, to))) return true;
  }
  return false;
}

// A matrix of zeros, ones or one number that is multiplied as weights are, in NumPy or JAX, in a
// model of more than one layer: self.weights = np.zeros((inputs, units)) ... x @ self.weights
bool is_constant_matrix(const PythonSource& source, const SourceCall& call) {
  const auto& all = source.statements();
  const SourceStatement& made = all[call.statement];
  if (!is_one_of(call.last_name(), {"zeros", "ones", "full"}) ||
      !is_one_of(call.owner(), {"np", "numpy", "jnp"}) || made.assigns.empty() ||
      made.value.data() != made.text.data() + call.begin)
    return false;
  std::string_view shape = call.given("shape").empty() ? call.at(0) : call.given("shape");
  if (!shape.starts_with('(') || !shape.ends_with(')')) return false;
  shape = trimmed(shape.substr(1, shape.size() - 2));
  if (std::count(shape.begin(), shape.end(), ',') != 1 || shape.ends_with(',')) return false;
  const std::string_view name = made.assigns.substr(made.assigns.rfind('.') + 1);
  bool used = false, layers = false;
  for (const SourceStatement& each : all) {
    const bool filled = each.text.starts_with(made.assigns) &&
                        each.text.substr(made.assigns.size()).starts_with('[');
    if (filled || (&each != &made && each.assigns == made.assigns)) return false;
    used = used || multiplies(each.text, name);
    layers = layers || has_one_of(each.text, {"tanh(", "relu(", "maximum(0", "sigmoid(", "gelu("});
  }
  return used && layers;
}

// Weights, other than biases and normalisation, that begin as zeros or as one number.
bool makes_constant_weights(const PythonSource& source, const SourceCall& call) {
  const std::string_view name = call.last_name();
  const std::string_view initial = call.given("kernel_initializer").empty()
                                       ? call.given("kernel_init")
                                       : call.given("kernel_initializer");
  if (has_one_of(initial, {"zeros", "Zeros", "ones", "Ones", "onstant"})) return true;
  if (is_constant_matrix(source, call)) return true;
  const bool of_weight = is_one_of(name, {"zeros_", "constant_"}) ? has(call.at(0), "weight")
                         : name == "zero_"
                             ? has(call.owner(), "weight") && !has(call.owner(), "grad")
                             : false;
  if (!of_weight) return false;
  for (const std::string_view word : {"if ", "elif "})
    if (const size_t branch = source.around(call.statement, word);
        branch != kNowhere && has(source.statements()[branch].text, "Norm"))
      return false;
  return true;
}

// Functions in the source that squash their input: "return 1 / (1 + np.exp(-z))".
std::set<std::string_view> squashing_functions(const PythonSource& source) {
  std::set<std::string_view> out;
  for (size_t i = 0; i < source.statements().size(); ++i) {
    const SourceStatement& each = source.statements()[i];
    const size_t def = source.around(i, "def ");
    if (def == kNowhere || !each.starts_with("return ") || !has(each.text, "exp(-") ||
        !has_one_of(each.text, {"/ (1", "/(1"}))
      continue;
    const std::string_view text = source.statements()[def].text;
    out.insert(text.substr(4, text.find('(') - 4));
  }
  return out;
}

// Is this line in a loop over the layers of a model?
bool is_per_layer(const PythonSource& source, size_t statement) {
  const size_t loop = source.around(statement, "for ");
  return loop != kNowhere && has_one_of(source.statements()[loop].text,
                                        {"self.w", "layer", "weights", "params", "depth"});
}

// The number of saturating layers, including those that a loop makes.
int64_t saturating_layers(const PythonSource& source, int64_t& line) {
  constexpr int64_t kOfALoop = 6;
  int64_t count = 0;
  const std::set<std::string_view> squashing = squashing_functions(source);
  for (const SourceCall& call : source.calls()) {
    if (squashing.count(call.name) && is_per_layer(source, call.statement)) {
      count += kOfALoop;
      if (line == 0) line = call.line;
      continue;
    }
    const std::string_view name = call.last_name(), given = call.given("activation");
    const bool layer = is_one_of(name, {"Sigmoid", "Tanh"}) ||
                       has_one_of(given, {"sigmoid", "tanh"}) ||
                       (name == "Activation" && has_one_of(call.at(0), {"sigmoid", "tanh"}));
    if (!layer) continue;
    const std::string_view text = source.statements()[call.statement].text;
    const bool repeated = source.in_loop(call.statement) || has(text, " for ");
    count += repeated ? kOfALoop : 1;
    if (line == 0) line = call.line;
  }
  return count;
}

// Judged by its name, or because its gradient is computed.
bool computes_loss(const PythonSource& source, const SourceStatement& function) {
  const std::string_view name = function.text.substr(4, function.text.find('(') - 4);
  if (has(name, "loss")) return true;
  return std::any_of(source.calls().begin(), source.calls().end(), [&](const SourceCall& call) {
    return is_one_of(call.last_name(), {"grad", "value_and_grad"}) && call.at(0) == name;
  });
}

// The path from the loss to the weights is cut: in the function that makes gradients, on a line
// that does more than show numbers.
bool cuts_gradient(const PythonSource& source, const SourceCall& call) {
  const std::string_view name = call.last_name();
  const bool operation = is_one_of(name, {"round", "sign", "stop_gradient"}) &&
                         has_one_of(call.owner(), {"torch", "tf", "jnp", "jax", "lax", "ops"});
  if (name != "detach" && !operation) return false;
  const SourceStatement& each = source.statements()[call.statement];
  if (!each.assigns.empty() && (each.assigns == call.owner() || has(each.assigns, "loss")))
    return false;
  if (has_one_of(each.text, {"print(", ".append(", ".item(", ".cpu(", "acc", "correct", "metric",
                             "eval", "target", "h0", "hidden", "state", "log(", "+="}))
    return false;
  const size_t function = source.around(call.statement, "def ");
  if (function != kNowhere && operation && computes_loss(source, source.statements()[function]))
    return true;
  return std::any_of(source.calls().begin(), source.calls().end(), [&](const SourceCall& other) {
    return is_one_of(other.last_name(), {"backward", "gradient", "GradientTape", "cross_entropy",
                                         "mse_loss", "softmax_cross_entropy"}) &&
           source.around(other.statement, "def ") == function;
  });
}

// Images as bytes that nothing scales.
void note_unscaled(const PythonSource& source, Hints& hints) {
  int64_t bytes = 0;
  for (const SourceStatement& each : source.statements()) {
    if (has_one_of(each.text,
                   {"/ 255", "/255", "/= 255", "/ 256", "/= 256", "1. / 255", "Rescaling(",
                    "ToTensor(", "ormaliz", ".std(", "StandardScaler", "/ 127", "Embedding",
                    "preprocess_input", "convert_image_dtype", "vocab", "token", "char"}))
      return;
    if (bytes == 0 && has_one_of(each.text, {"(0, 256", "(0, 255"})) bytes = each.first;
  }
  hints.add(Hint::kUnscaledInput, bytes);
}

}  // namespace

std::vector<SourceHint> learning_hints_in(const PythonSource& source) {
  constexpr int64_t kManySaturating = 6;
  constexpr size_t kMostStatements = 4000, kMostCalls = 6000;  // more is not written by hand
  Hints hints;
  if (source.statements().size() > kMostStatements || source.calls().size() > kMostCalls) return {};
  note_mismatch(source, hints);
  note_optimizer(source, hints);
  note_unscaled(source, hints);
  for (const SourceStatement& each : source.statements())
    if (has_one_of(each.text, {"requires_grad = False", "requires_grad=False",
                               "requires_grad_(False)", ".trainable = False", "trainable=False"}))
      hints.add(Hint::kHeldWeights, each.first);
  for (const SourceCall& call : source.calls()) {
    if (makes_constant_weights(source, call)) hints.add(Hint::kConstantWeights, call.line);
    if (cuts_gradient(source, call)) hints.add(Hint::kCutGradient, call.line);
  }
  int64_t line = 0;
  if (saturating_layers(source, line) >= kManySaturating) hints.add(Hint::kSaturatingLayers, line);
  return std::move(hints).all();
}

}  // namespace headway
