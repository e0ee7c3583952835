#include "headway/probe/source_learning.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace headway {
namespace {

// A line without its indentation and its comment.
struct Code {
  int64_t line = 0;
  size_t indent = 0;
  std::string_view text{};
};

std::vector<Code> code_of(const std::vector<std::string>& lines) {
  std::vector<Code> out;
  int64_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    std::string_view text = std::string_view(line).substr(begin);
    text = text.substr(0, text.find("  #"));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
      text.remove_suffix(1);
    out.push_back({number, begin, text});
  }
  return out;
}

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return has(text, word); });
}

// Where the bracket closes that opens at `open`; npos: on another line.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(';
    depth -= text[i] == ')';
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

// "return torch.softmax(x, dim=1)", "return self.softmax(self.out(x))": nothing is done with it.
bool returns_softmax(std::string_view text) {
  constexpr std::string_view kSoftmax = "softmax(";
  if (!text.starts_with("return ")) return false;
  const size_t at = text.find(kSoftmax);
  if (at == std::string_view::npos || text[at - 1] == '_') return false;  // log_softmax
  const std::string_view before = text.substr(0, at);
  return before.find_first_of(",@*+[{") == std::string_view::npos &&
         closing(text, at + kSoftmax.size() - 1) == text.size() - 1;
}

// "nn.Softmax(dim=1))", or that alone with ")" on the next line: the last of a Sequential.
bool is_last_softmax(std::string_view text, std::string_view next) {
  constexpr std::string_view kSoftmax = "nn.Softmax(";
  const size_t at = text.find(kSoftmax);
  if (at == std::string_view::npos) return false;
  const size_t end = closing(text, at + kSoftmax.size() - 1);
  if (end == std::string_view::npos) return false;
  const std::string_view rest = text.substr(end + 1);
  if (rest.starts_with(")")) return true;
  return (rest.empty() || rest == ",") && !has(text, "=nn.") && !has(text, "= nn.") &&
         next.starts_with(")");
}

bool calls_crossentropy(std::string_view text) {
  constexpr std::string_view kFunction = "cross_entropy(";
  if (has(text, "CrossEntropyLoss(")) return true;
  const size_t at = text.find(kFunction);
  return at != std::string_view::npos && (at == 0 || text[at - 1] != '_') && !has(text, "def ");
}

// In the function that a model is called by, not in a branch of it.
int64_t softmax_of_model(const std::vector<Code>& code) {
  constexpr size_t kBody = 4;  // columns
  size_t function = 0;
  bool is_model = false;
  for (size_t i = 0; i < code.size(); ++i) {
    const Code& each = code[i];
    if (each.text.starts_with("def ")) {
      function = each.indent;
      const std::string_view name = each.text.substr(4, each.text.find('(') - 4);
      is_model = name == "forward" || name == "call" || name == "__call__";
    }
    const bool plain = each.indent > function && each.indent <= function + kBody;
    if (is_model && plain && returns_softmax(each.text)) return each.line;
    if (is_last_softmax(each.text, i + 1 < code.size() ? code[i + 1].text : "")) return each.line;
  }
  return 0;
}

int64_t second_softmax(const std::vector<Code>& code) {
  const auto any = [&](auto&& is) {
    return std::any_of(code.begin(), code.end(), [&](const Code& each) { return is(each.text); });
  };
  if (any(calls_crossentropy)) {
    if (const int64_t line = softmax_of_model(code); line > 0) return line;
  }
  const auto takes_logits = [](std::string_view text) {
    return has(text, "ategoricalCrossentropy(") && has(text, "from_logits=True");
  };
  if (!any(takes_logits)) return 0;
  int64_t last = 0;
  for (const Code& each : code)
    if (has_one_of(each.text, {"activation=\"softmax\"", "activation='softmax'"})) last = each.line;
  return last;
}

// Keras: the last Dense has no activation, and the loss was not told.
int64_t missing_softmax(const std::vector<Code>& code) {
  int64_t last = 0;
  bool takes_probabilities = false;
  for (const Code& each : code) {
    if (has_one_of(each.text, {"from_logits", "logits=", "_with_logits"})) return 0;
    takes_probabilities |= has_one_of(
        each.text, {"categorical_crossentropy\"", "categorical_crossentropy'",
                    "\"binary_crossentropy\"", "'binary_crossentropy'", "Crossentropy()"});
    if (const size_t at = each.text.find("Dense("); at != std::string_view::npos) {
      const bool whole = closing(each.text, at + 5) != std::string_view::npos;
      last = whole && !has(each.text, "activation") ? each.line : 0;
    } else if (has_one_of(each.text, {"Activation(", "Softmax(", "softmax", "sigmoid"})) {
      last = 0;
    }
  }
  return takes_probabilities ? last : 0;
}

// p.grad in the source: somebody makes the step by hand.
bool uses_gradients(std::string_view text) {
  const size_t at = text.find(".grad");
  if (at == std::string_view::npos) return false;
  const char next = at + 5 < text.size() ? text[at + 5] : ' ';
  return !std::isalnum(static_cast<unsigned char>(next)) && next != '_';
}

int64_t no_step(const std::vector<Code>& code) {
  int64_t backward = 0;
  for (const Code& each : code) {
    if (has(each.text, ".step(") || has(each.text, "Trainer(") || uses_gradients(each.text) ||
        has(each.text, "autograd.grad("))
      return 0;
    if (backward == 0 && has(each.text, ".backward(")) backward = each.line;
  }
  return backward;
}

}  // namespace

LearningFacts learning_in(const std::vector<std::string>& lines) {
  const std::vector<Code> code = code_of(lines);
  LearningFacts out{.second_softmax = second_softmax(code),
                    .missing_softmax = missing_softmax(code),
                    .no_step = no_step(code)};
  for (const Code& each : code)
    if (out.held_weights == 0 &&
        has_one_of(each.text, {"requires_grad = False", "requires_grad=False",
                               "requires_grad_(False)", ".trainable = False", "trainable=False"}))
      out.held_weights = each.line;
  return out;
}

}  // namespace headway
