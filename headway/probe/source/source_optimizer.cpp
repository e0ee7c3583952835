// What a source does with its gradients and optimizers.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "headway/probe/source/source_hints.h"
#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

constexpr size_t kMostModels = 16;

// p.grad in the source: the step is made by hand.
bool uses_gradients(std::string_view text) {
  const size_t at = text.find(".grad");
  if (at == std::string_view::npos) return false;
  const char next = at + 5 < text.size() ? text[at + 5] : ' ';
  return !std::isalnum(static_cast<unsigned char>(next)) && next != '_';
}

bool imports(const PythonSource& source, std::string_view library) {
  return std::any_of(source.statements().begin(), source.statements().end(),
                     [&](const SourceStatement& each) {
                       return (each.starts_with("import ") || each.starts_with("from ")) &&
                              has_word(each.text, library);
                     });
}

// PyTorch and TensorFlow: gradients are computed, but nothing makes a step with them.
void note_no_step(const PythonSource& source, Hints& hints) {
  const bool torch = imports(source, "torch"), tensorflow = imports(source, "tensorflow");
  if (!torch && !tensorflow) return;
  int64_t made = 0;
  for (const SourceStatement& each : source.statements())
    if (uses_gradients(each.text)) return;
  for (const SourceCall& call : source.calls()) {
    const std::string_view name = call.last_name();
    const bool steps = name == "step" && !has_one_of(call.owner(), {"sched", "env", "prof"});
    if (steps || is_one_of(name, {"Trainer", "fit", "apply_gradients", "grad", "apply", "minimize",
                                  "assign", "assign_sub", "assign_add", "set_weights"}))
      return;
    if (made == 0 && name == (torch ? "backward" : "gradient")) made = call.line;
  }
  hints.add(Hint::kNoStep, made);
}

// optax: the result of apply_updates() is dropped, or its function returns something else.
void note_dropped_updates(const PythonSource& source, Hints& hints) {
  if (!imports(source, "optax")) return;
  const auto& statements = source.statements();
  size_t met = 0;
  for (const SourceCall& call : source.calls()) {
    if (call.last_name() != "apply_updates" || call.inside != kNowhere) continue;
    if (++met > kMostModels) return;
    const SourceStatement& made = statements[call.statement];
    if (trimmed(made.text).starts_with(call.name)) return hints.add(Hint::kNoStep, call.line);
    const size_t function = source.around(call.statement, "def ");
    if (made.assigns.empty() || function == kNowhere || has(made.assigns, ".")) continue;
    bool used = false;
    for (size_t i = call.statement + 1; i < statements.size() && source.is_within(i, function); ++i)
      used |= has_word(statements[i].text, made.assigns);
    // In a loop, code above it can use the result.
    if (!used && !source.in_loop(call.statement)) hints.add(Hint::kNoStep, call.line);
  }
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

// A model that a function makes, takes the weights of, and then drops.
bool is_forgotten(const PythonSource& source, std::string_view model, size_t function) {
  bool made = false, optimizes = false;
  for (size_t i = 0; i < source.statements().size(); ++i) {
    const SourceStatement& each = source.statements()[i];
    for (size_t c = each.calls_begin; c < each.calls_end; ++c) {
      if (!source.is_within(i, function)) continue;
      optimizes |= makes_optimizer(source.calls()[c]);
      const std::string_view other = owner_of_weights(source.calls()[c]);
      if (!other.empty() && other != model) return false;  // unclear whose weights it gets
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

// self.net, whose weights an optimizer got in one method, is replaced in another.
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

// PyTorch optimizers: whose weights they get, and whether that model changes afterwards.
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
  // Models, as the source makes them; those that are called where gradients are computed.
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
  // Passing it to a function that computes the loss counts as calling it.
  bool trained = false;
  for (size_t i = 0; i < statements.size() && !trained; ++i)
    for (const std::string_view name : given)
      trained |= trains.count(source.around(i, "def ")) && has_word(statements[i].text, name) &&
                 statements[i].assigns != name && !has(statements[i].text, "parameters(") &&
                 !has_one_of(statements[i].text, {".train()", ".eval()", "deepcopy("});
  if (!called.empty() && !trained) hints.add(Hint::kOtherWeights, made_line);
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

// A number, or a name with a number as its value: LR = 0.1, lr: float = 0.1, add_argument("--lr",
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
  // A schedule multiplies the rate by something else.
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

// Schedules that count steps, and where they get the number of steps.
struct StepSchedule {
  std::string_view name, keyword;
  size_t position;
};
constexpr StepSchedule kStepSchedules[] = {
    {"CosineDecay", "decay_steps", 1},
    {"PolynomialDecay", "decay_steps", 1},
    {"CosineDecayRestarts", "first_decay_steps", 1},
    {"cosine_decay_schedule", "decay_steps", 1},
    {"linear_schedule", "transition_steps", 2},
    {"polynomial_schedule", "transition_steps", 3},
    {"warmup_cosine_decay_schedule", "decay_steps", 3},
    {"get_cosine_schedule_with_warmup", "num_training_steps", 2},
    {"get_linear_schedule_with_warmup", "num_training_steps", 2},
};

// EPOCHS and no product: NUM_EPOCHS * STEPS and epochs * len(loader) are steps.
bool is_number_of_epochs(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return has(lower, "epoch") && !has_one_of(lower, {"*", "step", "batch", "len(", "per"});
}

void note_schedules(const PythonSource& source, Hints& hints) {
  for (const SourceCall& call : source.calls())
    for (const StepSchedule& each : kStepSchedules) {
      if (call.last_name() != each.name) continue;
      const std::string_view named = call.given(each.keyword);
      if (is_number_of_epochs(named.empty() ? call.at(each.position) : named))
        hints.add(Hint::kShortSchedule, call.line);
    }
}

}  // namespace

void note_optimizer(const PythonSource& source, Hints& hints) {
  note_no_step(source, hints);
  note_dropped_updates(source, hints);
  note_cleared(source, hints);
  note_other_weights(source, hints);
  note_rates(source, hints);
  note_schedules(source, hints);
}

}  // namespace headway
