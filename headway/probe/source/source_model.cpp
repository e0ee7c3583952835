#include "headway/probe/source/source_model.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "headway/probe/source/source_words.h"

namespace headway {
namespace {

constexpr int kDeepest = 8;

// The activation named by "softmax", tf.nn.softmax, F.relu.
ModelEnd end_named(std::string_view name) {
  while (!name.empty() && (name.front() == '"' || name.front() == '\'')) name.remove_prefix(1);
  while (!name.empty() && (name.back() == '"' || name.back() == '\'')) name.remove_suffix(1);
  name = name.substr(name.rfind('.') + 1);
  if (is_one_of(name, {"softmax", "Softmax"})) return ModelEnd::kSoftmax;
  if (is_one_of(name, {"log_softmax", "LogSoftmax"})) return ModelEnd::kLogSoftmax;
  if (is_one_of(name, {"sigmoid", "Sigmoid"})) return ModelEnd::kSigmoid;
  if (is_one_of(name, {"tanh", "Tanh"})) return ModelEnd::kTanh;
  if (is_one_of(name, {"relu", "ReLU"})) return ModelEnd::kRelu;
  if (is_one_of(name, {"linear", "None"})) return ModelEnd::kPlain;
  return ModelEnd::kUnknown;
}

int64_t number_in(std::string_view text) {
  int64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? out : 0;
}

// The position after the bracket that opens at the beginning; kNowhere: it is not closed.
size_t after_bracket(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (depth == 0) return i + 1;
  }
  return kNowhere;
}

class Reader {
 public:
  explicit Reader(const PythonSource& source) : source_(source) {}

  ModelOutput model() {
    std::optional<ModelOutput> out;
    for (size_t i = source_.statements().size(); i-- > 0 && !out;) {
      if (is_model_function(i)) out = of_function(i);
      else if (source_.around(i, "class ") == kNowhere) out = of_built(i);
    }
    return out.value_or(ModelOutput{});
  }

 private:
  const SourceStatement& statement(size_t index) const { return source_.statements()[index]; }

  bool is_model_function(size_t index) const {
    const std::string_view text = statement(index).text;
    if (!text.starts_with("def ")) return false;
    const std::string_view name = text.substr(4, text.find('(') - 4);
    if (const size_t owner = source_.around(index, "class "); owner != kNowhere)
      return is_one_of(name, {"forward", "call", "__call__"}) && is_model_class(owner);
    return is_one_of(name, {"forward", "apply", "predict", "apply_model", "network", "net", "mlp",
                            "model", "model_fn"});
  }

  bool is_model_class(size_t index) const {
    const std::string_view text = statement(index).text;
    return text.find("Mod") != std::string_view::npos || text.find("Net") != std::string_view::npos;
  }

  // model = Sequential(...), keras.Model(inputs, outputs), model.add(...)
  std::optional<ModelOutput> of_built(size_t index) {
    const SourceStatement& each = statement(index);
    for (size_t c = each.calls_begin; c < each.calls_end; ++c) {
      const SourceCall& call = source_.calls()[c];
      // A model that begins with another model only shows that one's output.
      if (call.last_name() == "Sequential" && call.inside == kNowhere)
        return begins_with_a_name(call) ? std::nullopt : std::optional(of_call(c, index));
      if (call.last_name() == "Model" && call.inside == kNowhere) {
        const std::string_view named = call.given("outputs");
        return of_expression(named.empty() ? call.at(1) : named, index);
      }
      if (call.last_name() == "add" && c + 1 < each.calls_end && source_.calls()[c + 1].inside == c)
        return of_call(c + 1, index);
    }
    return std::nullopt;
  }

  static bool begins_with_a_name(const SourceCall& call) {
    std::string_view first = call.at(0);
    while (!first.empty() && (first[0] == '[' || first[0] == ' ')) first.remove_prefix(1);
    const std::string_view name = first.substr(0, first.find_first_of(" ,]"));
    return !name.empty() && name.find_first_of("(*") == std::string_view::npos;
  }

  // The last `return` of its body that is not in a branch.
  ModelOutput of_function(size_t def) {
    if (depth_ >= kDeepest) return {};
    size_t last = kNowhere;
    for (size_t i = def + 1; i < source_.statements().size(); ++i) {
      if (statement(i).indent <= statement(def).indent) break;
      if (statement(i).inside == def && statement(i).starts_with("return ")) last = i;
    }
    if (last == kNowhere) return {};
    ++depth_;
    const ModelOutput out = of_value(last);
    --depth_;
    return out;
  }

  // The model that is returned or assigned here.
  ModelOutput of_value(size_t index) { return of_expression(statement(index).value, index); }

  // A name, or calls; a part of this statement's text.
  ModelOutput of_expression(std::string_view value, size_t index) {
    const SourceStatement& each = statement(index);
    if (value.empty()) return {};
    const auto begin = static_cast<size_t>(value.data() - each.text.data());
    for (size_t c = each.calls_begin; c < each.calls_end; ++c)
      if (source_.calls()[c].begin == begin) return of_chain(c, index, begin + value.size());
    const bool name = std::all_of(value.begin(), value.end(), [](char x) {
      return std::isalnum(static_cast<unsigned char>(x)) || x == '_' || x == '.';
    });
    if (name) return of_name(value, index);
    return {};
  }

  // f(x), f(x).squeeze(-1), Dense(3)(x); up to `end` in the text of the statement.
  ModelOutput of_chain(size_t first, size_t index, size_t end) {
    const std::string_view text = statement(index).text.substr(0, end);
    const SourceCall& call = source_.calls()[first];
    if (call.end > text.size()) return {};
    ModelOutput out = of_call(first, index);
    for (std::string_view rest = trimmed(text.substr(call.end)); !rest.empty();) {
      if (rest[0] == '.') {
        const size_t open = rest.find('(');
        if (open == std::string_view::npos) return {};
        const std::string_view method = rest.substr(1, open - 1);
        if (const ModelEnd end = end_named(method); end != ModelEnd::kUnknown)
          out = {end, call.line, out.units};
        else if (!is_one_of(method, {"squeeze", "view", "reshape", "flatten", "float", "unsqueeze",
                                     "contiguous", "permute", "transpose"}))
          return {};
        out.units = 0;  // how many are left is not known
        rest.remove_prefix(open);
      }
      if (rest[0] != '(' && rest[0] != '[') return {};
      const size_t after = after_bracket(rest);
      if (after == kNowhere) return {};
      rest = trimmed(rest.substr(after));
    }
    return out;
  }

  ModelOutput of_call(size_t index, size_t used_at) {
    const SourceCall& call = source_.calls()[index];
    const std::string_view name = call.last_name();
    if (name == "Sequential") return of_last(index);
    if (name == "Dense") {
      const std::string_view units = call.given("units");
      ModelOutput out{ModelEnd::kPlain, call.line, number_in(units.empty() ? call.at(0) : units)};
      std::string_view activation = call.given("activation");
      if (activation.empty()) activation = call.at(1);
      if (!activation.empty()) out.end = end_named(activation);
      return out;
    }
    if (name == "Linear") {
      const std::string_view units = call.given("out_features");
      return {ModelEnd::kPlain, call.line, number_in(units.empty() ? call.at(1) : units)};
    }
    if (call.owner() == "self")
      if (ModelOutput made = of_name(call.name, used_at); made.end != ModelEnd::kUnknown) {
        made.line = call.line;
        return made;
      }
    if (name == "Activation") return {end_named(call.at(0)), call.line, 0};
    if (const ModelEnd end = end_named(name); end != ModelEnd::kUnknown) return {end, call.line, 0};
    return of_class(name);
  }

  // The last argument of a Sequential, if it is a call.
  ModelOutput of_last(size_t index) {
    const SourceCall& whole = source_.calls()[index];
    size_t last = kNowhere;
    for (size_t c = index + 1; c < source_.calls().size(); ++c) {
      const SourceCall& each = source_.calls()[c];
      if (each.statement != whole.statement || each.begin >= whole.end) break;
      if (each.inside == index) last = c;
    }
    if (last == kNowhere) return {};
    const std::string_view text = statement(whole.statement).text;
    const size_t end = source_.calls()[last].end;
    const std::string_view rest = text.substr(end, whole.end - end);
    if (rest.find_first_not_of(" ,)]") != std::string_view::npos) return {};
    return of_call(last, whole.statement);
  }

  ModelOutput of_class(std::string_view name) {
    for (size_t i = 0; i < source_.statements().size(); ++i) {
      const std::string_view text = statement(i).text;
      if (!text.starts_with("class ") || text.substr(6, text.find_first_of("(:") - 6) != name)
        continue;
      for (size_t j = i + 1; j < source_.statements().size(); ++j) {
        if (statement(j).indent <= statement(i).indent) break;
        if (is_model_function(j)) return of_function(j);
      }
    }
    return {};
  }

  // The last value of this name: in the same function before this statement or, for attributes of
  // an object, anywhere in its class.
  ModelOutput of_name(std::string_view name, size_t before) {
    if (name.empty() || depth_ >= kDeepest) return {};
    ++depth_;
    const bool of_object = name.starts_with("self.");
    const size_t scope = source_.around(before, of_object ? "class " : "def ");
    size_t found = kNowhere;
    for (size_t i = 0; i < source_.statements().size(); ++i) {
      const bool among_others = statement(i).assigns.empty() && assigns_among_others(i, name);
      if (statement(i).assigns != name && !among_others) continue;
      if (source_.around(i, of_object ? "class " : "def ") != scope) continue;
      if (!of_object && i >= before) break;
      found = among_others ? kNowhere : i;
    }
    ModelOutput out;
    if (found != kNowhere) {
      const size_t around = statement(found).inside;
      const bool plain = of_object || around == scope || around == kNowhere;
      if (plain) out = of_value(found);
    }
    --depth_;
    return out;
  }

  // "x" of "x, state = self.rnn(x)" and of "x += y".
  bool assigns_among_others(size_t index, std::string_view name) const {
    const std::string_view text = statement(index).text;
    return text.starts_with(name) && text.size() > name.size() + 1 &&
           (text[name.size()] == ',' || text.substr(name.size(), 2) == " +");
  }

  const PythonSource& source_;
  int depth_ = 0;
};

struct LossName {
  std::string_view name;
  LossTakes takes;
};
constexpr LossName kLosses[] = {{"CrossEntropyLoss", LossTakes::kLogits},
                                {"cross_entropy", LossTakes::kLogits},
                                {"softmax_cross_entropy", LossTakes::kLogits},
                                {"softmax_cross_entropy_with_integer_labels", LossTakes::kLogits},
                                {"softmax_cross_entropy_with_logits", LossTakes::kLogits},
                                {"sparse_softmax_cross_entropy_with_logits", LossTakes::kLogits},
                                {"BCEWithLogitsLoss", LossTakes::kLogit},
                                {"binary_cross_entropy_with_logits", LossTakes::kLogit},
                                {"sigmoid_binary_cross_entropy", LossTakes::kLogit},
                                {"sigmoid_cross_entropy_with_logits", LossTakes::kLogit},
                                {"BCELoss", LossTakes::kProbabilities},
                                {"binary_cross_entropy", LossTakes::kProbabilities},
                                {"NLLLoss", LossTakes::kLogProbabilities},
                                {"nll_loss", LossTakes::kLogProbabilities},
                                {"MSELoss", LossTakes::kNumbers},
                                {"mse_loss", LossTakes::kNumbers},
                                {"L1Loss", LossTakes::kNumbers},
                                {"l1_loss", LossTakes::kNumbers},
                                {"SmoothL1Loss", LossTakes::kNumbers},
                                {"HuberLoss", LossTakes::kNumbers},
                                {"MeanSquaredError", LossTakes::kNumbers},
                                {"MeanAbsoluteError", LossTakes::kNumbers},
                                {"Huber", LossTakes::kNumbers}};

std::optional<LossTakes> taken_by(const SourceCall& call) {
  const std::string_view name = call.last_name();
  if (name.ends_with("Crossentropy") && !call.owner().ends_with("metrics")) {
    const std::string_view told =
        call.given("from_logits").empty() ? call.at(0) : call.given("from_logits");
    if (told.empty() || told == "False") return LossTakes::kProbabilities;
    if (told != "True") return std::nullopt;
    return name.starts_with("Binary") ? LossTakes::kLogit : LossTakes::kLogits;
  }
  if (call.owner().ends_with("metrics") ||
      call.given("reduction").find("sum") != std::string_view::npos)
    return std::nullopt;
  for (const LossName& each : kLosses)
    if (name == each.name) return each.takes;
  if (name != "compile") return std::nullopt;
  std::string_view loss = call.given("loss");
  if (loss.empty()) loss = call.at(1);
  if (loss.size() < 3 || (loss[0] != '"' && loss[0] != '\'')) return std::nullopt;
  loss = loss.substr(1, loss.size() - 2);
  if (loss.ends_with("crossentropy")) return LossTakes::kProbabilities;
  if (is_one_of(loss, {"mse", "mean_squared_error", "mae", "mean_absolute_error", "huber"}))
    return LossTakes::kNumbers;
  return std::nullopt;
}

}  // namespace

ModelOutput output_of_model(const PythonSource& source) { return Reader(source).model(); }

LossTakes taken_by_loss(const PythonSource& source) {
  std::optional<LossTakes> out;
  for (const SourceCall& call : source.calls()) {
    const auto takes = taken_by(call);
    if (!takes) continue;
    if (out && *out != *takes) return LossTakes::kUnknown;
    out = takes;
  }
  return out.value_or(LossTakes::kUnknown);
}

}  // namespace headway
