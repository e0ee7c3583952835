#include "headway/probe/source_learning.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "headway/probe/source_model.h"

namespace headway {
namespace {

constexpr size_t kMostModels = 16;

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return has(text, word); });
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

class Hints {
 public:
  void add(Hint kind, int64_t line) {
    const bool known = std::any_of(all_.begin(), all_.end(),
                                   [&](const SourceHint& each) { return each.kind == kind; });
    if (line > 0 && !known) all_.push_back({kind, line});
  }
  std::vector<SourceHint> all() && { return std::move(all_); }

 private:
  std::vector<SourceHint> all_;
};

// Somebody applies one, in the model or on the way to the loss.
bool applies_activation(const PythonSource& source) {
  return std::any_of(source.calls().begin(), source.calls().end(), [](const SourceCall& call) {
    return is_one_of(call.last_name(), {"softmax", "log_softmax", "sigmoid", "Softmax",
                                        "LogSoftmax", "Sigmoid", "Activation", "Lambda", "log"});
  });
}

// Output and loss.
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

// p.grad in the source: somebody makes the step by hand.
bool uses_gradients(std::string_view text) {
  const size_t at = text.find(".grad");
  if (at == std::string_view::npos) return false;
  const char next = at + 5 < text.size() ? text[at + 5] : ' ';
  return !std::isalnum(static_cast<unsigned char>(next)) && next != '_';
}

// Gradients are made, and nothing makes a step with them.
void note_no_step(const PythonSource& source, Hints& hints) {
  int64_t backward = 0;
  bool torch = false;
  for (const SourceStatement& each : source.statements()) {
    torch |= each.starts_with("import torch") || each.starts_with("from torch");
    if (uses_gradients(each.text)) return;
  }
  if (!torch) return;
  for (const SourceCall& call : source.calls()) {
    const std::string_view name = call.last_name();
    const bool steps = name == "step" && !has_one_of(call.owner(), {"sched", "env", "prof"});
    if (steps || is_one_of(name, {"Trainer", "fit", "apply_gradients", "grad"})) return;
    if (backward == 0 && name == "backward") backward = call.line;
  }
  hints.add(Hint::kNoStep, backward);
}

// backward(), opt.zero_grad(), opt.step(), in this order in one block.
void note_cleared(const PythonSource& source, Hints& hints) {
  const SourceCall *made = nullptr, *cleared = nullptr;
  for (const SourceCall& call : source.calls()) {
    const std::string_view name = call.last_name();
    if (name == "backward") made = &call, cleared = nullptr;
    const auto block = [&](const SourceCall& each) {
      return source.statements()[each.statement].inside;
    };
    if (!made || block(call) != block(*made)) continue;
    if (name == "zero_grad") cleared = &call;
    if (name != "step") continue;
    if (cleared && cleared->owner() == call.owner())
      return hints.add(Hint::kClearedGradients, cleared->line);
    made = cleared = nullptr;
  }
}

// "net" of "net.parameters()", "list(net.head.parameters())".
std::string_view owner_of_weights(const SourceCall& call) {
  if (!is_one_of(call.last_name(), {"parameters", "named_parameters"})) return {};
  const std::string_view owner = call.owner();
  return owner.substr(0, owner.find('.'));
}

bool makes_optimizer(const SourceCall& call) {
  return is_one_of(call.last_name(), {"SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam",
                                      "RAdam", "Adamax", "Adadelta"});
}

bool has_word(std::string_view text, std::string_view word) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

// A model that a function makes, takes the weights of, and forgets.
bool is_forgotten(const PythonSource& source, std::string_view model, size_t function) {
  bool made = false, optimizes = false;
  for (size_t i = 0; i < source.statements().size(); ++i) {
    const SourceStatement& each = source.statements()[i];
    for (size_t c = each.calls_begin; c < each.calls_end; ++c) {
      if (!source.is_within(i, function)) continue;
      optimizes |= makes_optimizer(source.calls()[c]);
      const std::string_view other = owner_of_weights(source.calls()[c]);
      if (!other.empty() && other != model) return false;  // whose weights it gets is not plain
    }
    if (!source.is_within(i, function) || !has_word(each.text, model)) continue;
    if (each.assigns == model) made = has(each.value, "(");
    else if (!has(each.text, "parameters(")) return false;
  }
  return made && optimizes;
}

bool is_layer(const SourceCall& call) {
  return (call.name.starts_with("nn.") || call.name.starts_with("torch.nn.")) &&
         !call.name.ends_with("Loss");
}

// self.net, whose weights an optimizer was given in one method, is made anew in another.
int64_t replaced_model(const PythonSource& source) {
  for (const SourceCall& call : source.calls()) {
    if (!is_one_of(call.last_name(), {"parameters", "named_parameters"}) ||
        !call.owner().starts_with("self.") || call.inside == kNowhere ||
        !makes_optimizer(source.calls()[call.inside]))
      continue;
    const size_t method = source.around(call.statement, "def ");
    if (method == kNowhere) continue;
    const size_t owner = source.around(call.statement, "class ");
    bool here = false, elsewhere = false;
    for (size_t i = 0; i < source.statements().size(); ++i) {
      if (source.statements()[i].assigns != call.owner() || source.around(i, "class ") != owner)
        continue;
      (source.around(i, "def ") == method ? here : elsewhere) = true;
    }
    if (here && elsewhere) return call.line;
  }
  return 0;
}

// Optimizers of PyTorch: whose weights they are given, and whether their model changes afterwards.
void note_other_weights(const PythonSource& source, Hints& hints) {
  hints.add(Hint::kReplacedLayers, replaced_model(source));
  std::set<std::string_view> given, called;
  int64_t made_line = 0;
  size_t made_at = kNowhere;
  for (const SourceCall& call : source.calls()) {
    const std::string_view owner = owner_of_weights(call);
    if (owner.empty() || given.size() >= kMostModels) continue;
    const bool is_new = given.insert(owner).second;
    const size_t function = source.around(call.statement, "def ");
    if (is_new && function != kNowhere && owner != "self" && is_forgotten(source, owner, function))
      return hints.add(Hint::kOtherWeights, call.line);
  }
  for (const SourceCall& call : source.calls())
    if (makes_optimizer(call)) made_line = call.line, made_at = call.statement;
  if (made_line == 0 || given.empty() || given.count("self")) return;
  const auto& statements = source.statements();
  for (size_t i = made_at + 1; i < statements.size(); ++i) {
    const std::string_view name = statements[i].assigns;
    const size_t dot = name.find('.');
    const bool same_block =
        source.around(i, "def ") == source.around(made_at, "def ") && !source.in_loop(i);
    if (dot == std::string_view::npos || !given.count(name.substr(0, dot)) || !same_block) continue;
    for (size_t c = statements[i].calls_begin; c < statements[i].calls_end; ++c)
      if (is_layer(source.calls()[c])) return hints.add(Hint::kReplacedLayers, made_line);
  }
  // Models by how they are made; those that are called where gradients are made.
  std::set<std::string_view> models;
  std::set<size_t> trains;  // functions that call backward(); kNowhere: the module
  for (const SourceCall& call : source.calls())
    if (call.last_name() == "backward") trains.insert(source.around(call.statement, "def "));
  for (const SourceStatement& each : statements) {
    const std::string_view name = each.assigns;
    if (!name.empty() &&
        (given.count(name) || has_one_of(each.value, {"deepcopy(", "Sequential("})))
      models.insert(name);
  }
  for (const SourceCall& call : source.calls())
    if (models.count(call.name) && trains.count(source.around(call.statement, "def ")))
      called.insert(call.name);
  // Handed on, to a function that computes the loss, is as good as called.
  bool trained = false;
  for (size_t i = 0; i < statements.size() && !trained; ++i)
    for (const std::string_view name : given)
      trained |= trains.count(source.around(i, "def ")) && has_word(statements[i].text, name) &&
                 statements[i].assigns != name && !has(statements[i].text, "parameters(") &&
                 !has_one_of(statements[i].text, {".train()", ".eval()", "deepcopy("});
  if (!called.empty() && !trained) hints.add(Hint::kOtherWeights, made_line);
}

// Weights, not biases or those of a normalisation, that begin as zeros or as one number.
bool makes_constant_weights(const PythonSource& source, const SourceCall& call) {
  const std::string_view name = call.last_name();
  const std::string_view initial = call.given("kernel_initializer").empty()
                                       ? call.given("kernel_init")
                                       : call.given("kernel_initializer");
  if (has_one_of(initial, {"zeros", "Zeros", "ones", "Ones", "onstant"})) return true;
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

// Functions of the source's own that squash: "return 1 / (1 + np.exp(-z))".
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

// Does this line stand in a loop over the layers of a model?
bool is_per_layer(const PythonSource& source, size_t statement) {
  const size_t loop = source.around(statement, "for ");
  return loop != kNowhere && has_one_of(source.statements()[loop].text,
                                        {"self.w", "layer", "weights", "params", "depth"});
}

// Layers that saturate, those that a loop makes by their number.
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

// The way from the loss to the weights is cut: in the function that makes gradients, on a line that
// does not only show numbers.
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
  return std::any_of(source.calls().begin(), source.calls().end(), [&](const SourceCall& other) {
    return is_one_of(other.last_name(), {"backward", "gradient", "GradientTape", "cross_entropy",
                                         "mse_loss", "softmax_cross_entropy"}) &&
           source.around(other.statement, "def ") == function;
  });
}

std::optional<double> number_in(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// "--learning-rate" for learning_rate.
bool names_option(std::string_view quoted, std::string_view name) {
  std::string flag;
  for (const char c : quoted)
    if (c == '-' && !flag.empty()) flag += '_';
    else if (c != '-' && c != '"' && c != '\'') flag += c;
  return flag == name;
}

// A number, or a name that is given one: LR = 0.1, lr: float = 0.1, add_argument("--lr",
// default=0.1).
std::optional<double> value_of(const PythonSource& source, std::string_view text) {
  if (const auto number = number_in(text)) return number;
  const std::string_view name = text.substr(text.rfind('.') + 1);
  if (name.empty()) return std::nullopt;
  for (const SourceStatement& each : source.statements())
    if (each.assigns == name)
      if (const auto number = number_in(each.value)) return number;
  for (const SourceCall& call : source.calls())
    if (call.last_name() == "add_argument" && names_option(call.at(0), name))
      return number_in(call.given("default"));
  return std::nullopt;
}

// The learning rate that a call gives to an optimizer; empty: none.
std::string_view rate_given(const SourceCall& call) {
  for (const std::string_view keyword : {"lr", "learning_rate"})
    if (const std::string_view given = call.given(keyword); !given.empty()) return given;
  // PyTorch's optimizers take the weights first.
  const bool weights_first = has(call.at(0), "param") || has(call.name, "optim.");
  const bool keras = has(call.name, "optimizers.");
  return weights_first && !keras ? call.at(1) : call.at(0);
}

void note_rates(const PythonSource& source, Hints& hints) {
  // A schedule multiplies it by something else.
  const bool scheduled =
      std::any_of(source.calls().begin(), source.calls().end(), [](const SourceCall& call) {
        return has_one_of(call.name, {"LambdaLR", "lr_scheduler", "chedule", "Decay", "OneCycle"});
      });
  for (const SourceCall& call : source.calls()) {
    const std::string_view name = call.last_name();
    const bool trainer = name == "TrainingArguments";
    const bool scales =
        trainer || is_one_of(name, {"Adam", "AdamW", "Nadam", "NAdam", "RAdam", "RMSprop", "adam",
                                    "adamw", "rmsprop", "nadam"});
    const bool plain = is_one_of(name, {"SGD", "sgd"});
    if (!scales && !plain) continue;
    const auto rate = value_of(source, trainer ? call.given("learning_rate") : rate_given(call));
    if (!rate || *rate <= 0) continue;
    if (!scheduled && *rate >= (plain ? 2 : trainer ? 0.01 : 0.05))
      hints.add(Hint::kHighRate, call.line);
    if (*rate <= (plain ? 1e-5 : 2e-6)) hints.add(Hint::kLowRate, call.line);
  }
}

// Pictures as bytes, and nobody scales them.
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
  constexpr size_t kMostStatements = 4000, kMostCalls = 6000;  // of what somebody wrote by hand
  Hints hints;
  if (source.statements().size() > kMostStatements || source.calls().size() > kMostCalls) return {};
  note_mismatch(source, hints);
  note_no_step(source, hints);
  note_cleared(source, hints);
  note_other_weights(source, hints);
  note_rates(source, hints);
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
