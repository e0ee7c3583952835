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

constexpr size_t kShortNumber = 5;  // "29500"

bool is_name(char c) { return is_alnum(c) || c == '_'; }

// A function or variable with this name is often given a secret, by keyword or not.
bool takes_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 14> kWords = {
      "login", "connect", "connection",  "authenticate", "unlock", "decrypt", "encrypt",
      "sign",  "fernet",  "credentials", "session",      "engine", "cipher",  "smtp"};
  return names_a_secret(name) || names_one_of(name, kWords);
}

// Something with this name is one of a few choices, or the name of something.
bool takes_a_name(std::string_view name) {
  constexpr std::array<std::string_view, 39> kWords = {
      "classes",    "labels",        "categories", "vocab",    "cmap",    "subset",    "columns",
      "cols",       "features",      "names",      "hue",      "name",    "project",   "mode",
      "activation", "optimizer",     "loss",       "backend",  "split",   "dtype",     "device",
      "format",     "kind",          "type",       "group",    "label",   "strategy",  "monitor",
      "metric",     "padding",       "method",     "model",    "dataset", "scheduler", "metrics",
      "task",       "interpolation", "backbone",   "objective"};
  return names_one_of(name, kWords);
}

// "bbox_inches": an argument with such a specific name has a known meaning.
bool is_particular(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  return words.size() > 1 && words.back().size() > 3 && is_spoken_name(name) &&
         name.find('.') == name.npos && !names_a_secret(name) && !names_a_login(name) &&
         !says_nothing(words.back());
}

// A function with this name takes the name of a part of the program, of a file or of a column.
bool asks_for_a_name(std::string_view callee) {
  constexpr std::array<std::string_view, 28> kWords = {
      "file",     "startswith", "endswith", "glob",    "folder",  "download", "path",
      "makedirs", "mkdir",      "isdir",    "isfile",  "exists",  "listdir",  "imread",
      "getattr",  "hasattr",    "setattr",  "buffer",  "groupby", "argument", "scalar",
      "layer",    "astype",     "module",   "adapter", "metric",  "drop",     "rename"};
  return names_one_of(callee, kWords);
}

// A function with this name takes the name of a model or dataset, with a number in it.
bool asks_for_a_model(std::string_view callee) {
  return names_one_of(
      callee, std::array<std::string_view, 5>{"pretrained", "dataset", "make", "tfds", "model"});
}

// Something with this name is given sentences.
bool takes_sentences(std::string_view name) {
  constexpr std::array<std::string_view, 25> kWords = {
      "prompt",   "sentence", "msg",       "print",   "log",   "logger", "logging",
      "info",     "warn",     "warning",   "debug",   "error", "write",  "raise",
      "assert",   "desc",     "exception", "message", "help",  "title",  "description",
      "critical", "notice",   "echo",      "text"};
  return names_one_of(name, kWords);
}

// This function takes the name of a setting: os.environ["HF_TOKEN"] contains no secret itself.
bool asks_for_a_setting(std::string_view callee) {
  return names_one_of(callee, std::array<std::string_view, 3>{"environ", "getenv", "env"});
}

// config.get("api_key")
bool looks_up(std::string_view callee) {
  return names_one_of(callee, std::array<std::string_view, 4>{"get", "pop", "getattr", "hasattr"});
}

// f"Bearer {token}": the secret is in the variable.
bool is_scheme(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  return words.empty() || (words.size() == 1 &&
                           (words[0] == "bearer" || words[0] == "token" || words[0] == "basic"));
}

// A function with this name asks the user a question.
bool asks_the_user(std::string_view callee) {
  return names_one_of(callee,
                      std::array<std::string_view, 4>{"getpass", "input", "prompt", "confirm"});
}

// Something with this name explains an option to the user.
bool takes_help(std::string_view name) {
  return names_one_of(
      name, std::array<std::string_view, 5>{"help", "description", "desc", "epilog", "usage"});
}

// A function with this name takes a command: its words may be anything.
bool takes_a_command(std::string_view name) {
  constexpr std::array<std::string_view, 12> kWords = {"run",  "popen", "call",    "output",
                                                       "exec", "spawn", "system",  "cmd",
                                                       "args", "argv",  "command", "commands"};
  return names_one_of(name, kWords);
}

// "cfg.scheduler": the name says what the value is.
bool is_telling(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return last.size() >= 3 && is_spoken_name(last) && !says_nothing(last) && !names_a_secret(last);
}

// "bhqd,bhkd->bhqk", "b (h w) c -> b c h w": which axes become which
bool is_einsum(std::string_view text) {
  size_t letters = 0;
  for (const char c : text) {
    letters = is_alnum(c) ? letters + 1 : 0;
    if (letters > 5 || (!is_alnum(c) && std::string_view(" ,.()->=").find(c) == text.npos))
      return false;
  }
  return text.find("->") != text.npos;
}

// "session_id": row["session_id"] contains no secret itself.
bool is_column(std::string_view text) {
  return text.find('_') != text.npos && is_spoken_name(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || c == '_'; });
}

// "--token-dropout", "-v"
bool is_option(std::string_view text) {
  if (text.size() == 2 && text[0] == '-') return is_letter(text[1]);
  return text.starts_with("--") && text.size() > 3 && is_spoken_name(text.substr(2)) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower(c) || c == '-' || c == '_'; });
}

// "if not token: ...": what follows the colon is a statement.
bool begins_a_block(std::string_view line) {
  constexpr std::array<std::string_view, 6> kWords = {"if",  "elif", "while",
                                                      "for", "with", "except"};
  const size_t begin = end_of(line, 0, is_blank);
  const std::string_view word = line.substr(begin, end_of(line, begin, is_letter) - begin);
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

size_t end_of_string(std::string_view line, size_t from, std::string_view quotes, bool raw) {
  for (size_t at = from; at < line.size(); ++at) {
    if (line[at] == '\\' && !raw) {
      ++at;
    } else if (line.substr(at, quotes.size()) == quotes) {
      return at;
    }
  }
  return line.size();
}

// Processes one line of code. All of it is suspicious if any name in it may belong to a secret.
class SourceLine {
 public:
  explicit SourceLine(std::string_view line) : line_(line) { find_suspicion(); }

  std::string redacted() {
    for (size_t at = 0; at < line_.size();) at = take(at);
    return hide_shaped(out_);
  }

 private:
  void find_suspicion() {
    const std::string_view code = line_.substr(end_of(line_, 0, is_blank));
    if (code.starts_with("import ") || code.starts_with("from ")) return;
    for (size_t at = 0; at < line_.size();) {
      const size_t end = end_of(line_, at, is_name);
      const std::string_view name = line_.substr(at, end - at);
      if (name == "pass" && is_statement(at, end)) return;
      suspicious_ |= takes_a_secret(name);
      command_ |= takes_a_command(name);
      login_ |= names_a_login(name);
      at = std::max(end, at + 1);
    }
  }

  // Is this Python's `pass`, followed by nothing but a comment?
  bool is_statement(size_t begin, size_t end) const {
    end = end_of(line_, end, is_blank);
    return line_.find_first_not_of(" \t") == begin && (end == line_.size() || line_[end] == '#');
  }

  size_t take(size_t at) {
    const char c = line_[at];
    if (c == '#') {
      out_ += redact_sentence(line_.substr(at), Care::kSpoken);
      return line_.size();
    }
    if (is_quote(c)) return take_string(at, "");
    if (is_digit(c)) return take_number(at);
    if (is_name(c)) return take_name(at);
    if (c == '(') calls_.push_back(name_);
    if (c == '(' || c == '[' || c == '{') open_ += c;
    if ((c == ')' || c == ']' || c == '}') && !open_.empty()) open_.pop_back();
    if (c == '(' || c == '[') first_ = true;
    if (c == ',' || c == ')') first_ = false;
    if (c == ')' && !calls_.empty()) calls_.pop_back();
    depth_ += c == '(' || c == '[' || c == '{';
    depth_ -= c == ')' || c == ']' || c == '}';
    if (c == '=' && depth_ == 0 && assigned_.empty()) assigned_ = name_;
    if (c == '=' || c == ':') target_ = name_, target_depth_ = depth_;
    if (c == ':' && depth_ == 0 && begins_a_block(line_)) target_.clear();
    if (c == '[' && !out_.empty() &&
        (is_name(out_.back()) || out_.back() == ']' || out_.back() == ')'))
      index_ = true;
    if (c != '[' && c != ' ') index_ = false;
    if ((c == ',' && depth_ <= target_depth_) || c == '{' || c == ';') target_.clear();
    sentence_ |= c == ',' && assert_ && calls_.empty();
    if (c != '.' && c != ' ' && c != '=' && c != '!' && c != '[' && c != ']') name_.clear();
    out_ += c;
    return at + 1;
  }

  size_t take_name(size_t at) {
    const size_t end = end_of(line_, at, is_name);
    const std::string_view name = line_.substr(at, end - at);
    const bool prefix = name.size() <= 2 && end < line_.size() && is_quote(line_[end]) &&
                        name.find_first_not_of("rRbBfFuU") == std::string_view::npos;
    if (prefix) {
      out_ += name;
      return take_string(end, name);
    }
    if (out_.ends_with(".") && !name_.empty()) {
      name_ += "." + std::string(name);
    } else {
      name_ = name;
    }
    sentence_ |= name == "raise";
    assert_ |= name == "assert";
    out_ += is_shaped(name) ? kHidden : name;
    return end;
  }

  size_t take_number(size_t at) {
    const size_t end = end_of(line_, at, [](char c) { return is_name(c) || c == '.'; });
    const bool in_call = depth_ > target_depth_ && !calls_.empty();  // PRNGKey(42)
    const bool secret = (names_a_secret(target_) && !in_call) || is_default_of_secret();
    out_ += secret ? kHidden : line_.substr(at, end - at);
    return end;
  }

  size_t take_string(size_t at, std::string_view prefix) {
    const char quote = line_[at];
    const std::string triple(3, quote);
    const std::string quotes = line_.substr(at, 3) == triple ? triple : std::string(1, quote);
    const bool raw = prefix.find_first_of("rR") != std::string_view::npos;
    const size_t begin = at + quotes.size(), end = end_of_string(line_, begin, quotes, raw);
    const std::string_view content = line_.substr(begin, end - begin);
    const bool formatted = prefix.find_first_of("fF") != std::string_view::npos;
    const size_t next = end_of(line_, std::min(line_.size(), end + quotes.size()), is_blank);
    key_ = open_.ends_with('{') && next < line_.size() && line_[next] == ':';
    command_ |= content.starts_with("-");
    const size_t last = out_.find_last_not_of(' ');
    in_path_ =
        (last != out_.npos && out_[last] == '/') || (next < line_.size() && line_[next] == '/');
    out_ += quotes + shown(content, formatted);
    if (end < line_.size()) out_ += quotes;
    of_secret_ |= content.starts_with("-") && names_a_secret(content);
    if (content.size() <= 64 && names_a_secret(content))
      target_ = content, target_depth_ = depth_;  // {"password": ...
    index_ = false;
    name_ = std::all_of(content.begin(), content.end(), is_name) ? content : "";  // {"mode": ...
    return std::min(line_.size(), end + quotes.size());
  }

  bool in_sentences() const {
    const bool documentation = line_.substr(end_of(line_, 0, is_blank), 3) == "\"\"\"";
    return documentation || sentence_ || takes_sentences(target_) ||
           std::any_of(calls_.begin(), calls_.end(),
                       [](const std::string& name) { return takes_sentences(name); });
  }

  bool is_default_of_secret() const { return of_secret_ && target_ == "default"; }

  // Names of choices, but not the user's input.
  bool is_compared_name() const {
    const size_t dot = target_.rfind('.');
    return !login_ && is_telling(target_) && !target_.ends_with("en") && !target_.ends_with("ed") &&
           (dot != target_.npos || is_known_name(target_));
  }

  // {"name": ...}, names = ["a", "b"], if kind == "a"
  bool is_name_by_place() const {
    if (key_) return true;
    const std::string_view code =
        std::string_view(out_).substr(0, out_.find_last_not_of("'\" ") + 1);
    if (code.ends_with("==") || code.ends_with("!=")) return is_compared_name();
    const bool tuple =
        open_ == "(" && calls_.size() == 1 && (calls_[0].empty() || calls_[0] == "in");
    if (!assigned_.empty() && !is_telling(assigned_)) return false;
    const bool list = open_.ends_with('[') || (open_.ends_with('{') && target_.empty()) || tuple;
    return list && !command_ && (target_.empty() || is_telling(target_));
  }

  // The first argument of a call, or a help text: it mentions secrets, but contains none.
  bool only_names(std::string_view content) const {
    const std::string callee = calls_.empty() ? "" : calls_.back();
    const bool setting =
        (first_ && asks_for_a_setting(callee)) || (index_ && asks_for_a_setting(name_));
    if (setting && is_constant(content)) return true;
    const bool looked_up = index_ || (first_ && looks_up(callee));
    if (looked_up && (is_made_of_names(content) || (index_ && is_column(content)))) return true;
    if (first_ && asks_the_user(callee)) return redact_sentence(content, Care::kTold) == content;
    if (takes_help(target_)) return redact_sentence(content, Care::kTold) == content;
    return is_option(content);
  }

  std::string shown(std::string_view content, bool formatted) const {
    if (is_default_of_secret()) return std::string(kHidden);
    if (formatted && content.find('{') != content.npos && is_scheme(without_fields(content)))
      return std::string(content);
    if (!formatted && only_names(content) && !is_shaped(content)) return std::string(content);
    if (!target_.empty() && names_a_secret(target_))
      return std::string(may_stay_behind_secret(target_, content) ? content : kHidden);
    if (!suspicious_ && is_hash(content) && names_a_hash(out_)) return std::string(content);
    if (content.find("://") != std::string_view::npos && !formatted &&
        content.find(' ') == std::string_view::npos)
      return redact_url(content);
    const std::string bare = formatted ? without_fields(content) : without_placeholders(content);
    return is_harmless(bare) ? std::string(content) : std::string(kHidden);
  }

  bool is_harmless(const std::string& text) const {
    if (is_shaped(text) || text.find("://") != std::string::npos) return false;
    if (text.find('\\') != std::string::npos && text.find("\\x") != std::string::npos) return false;
    if (std::none_of(text.begin(), text.end(), is_alnum) && text.size() <= 20) return true;
    const size_t dot = text.rfind('.');
    const bool file = dot != std::string::npos && is_file_ending(text.substr(dot + 1));
    if (is_plain_path(text) && (!suspicious_ || file)) return true;
    if (!suspicious_ && text.size() <= kShortNumber && is_short_number(text)) return true;
    if (!suspicious_ && (is_code_name(text) || is_marks(text))) return true;
    const bool one_word = text.find(' ') == std::string::npos;
    const bool spoken = !suspicious_ && one_word && is_spoken_name(text);
    const bool word = spoken && std::none_of(text.begin(), text.end(), is_digit);
    const std::string callee = calls_.empty() ? "" : calls_.back();
    const bool direct = depth_ > 0 && depth_ == target_depth_;  // f(mode="x"), {"mode": "x"}
    if (word &&
        (index_ || is_name_by_place() || takes_a_name(target_) ||
         (direct && (is_known_name(target_) || is_particular(target_))) || asks_for_a_name(callee)))
      return true;
    const bool short_name = !suspicious_ && text.size() <= 8 &&  // "fnlwgt"
                            std::all_of(text.begin(), text.end(), is_lower);
    if (short_name && is_name_by_place()) return true;
    if (spoken && ((key_ && is_telling(assigned_)) || in_path_)) return true;
    if (!suspicious_ && is_einsum(text)) return true;
    const bool run = !suspicious_ && one_word && is_name_of_run(text);
    if ((spoken || run) && asks_for_a_model(callee)) return true;
    if (run && direct && (is_known_name(target_) || takes_a_name(target_))) return true;
    if (names_a_secret(text) && !one_word && !in_sentences()) return false;
    const Care care = suspicious_                   ? Care::kSecret
                      : one_word || !in_sentences() ? Care::kListed
                                                    : Care::kSpoken;
    return redact_sentence(text, care) == text;
  }

  // f"loss {loss:.3f}" without what is in braces: that is code.
  static std::string without_fields(std::string_view text) {
    std::string out;
    int depth = 0;
    for (const char c : text) {
      if (c == '{') ++depth;
      if (depth == 0) out += c;
      if (c == '}' && depth > 0) --depth;
    }
    return without_placeholders(out);
  }

  // "%s", "%05d", "{}", "{:.3f}", "\n"
  static std::string without_placeholders(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '%') {
        const size_t end =
            end_of(text, at + 1, [](char c) { return is_digit(c) || c == '.' || c == '-'; });
        if (end < text.size() && is_letter(text[end])) {
          at = end;
          out += ' ';
          continue;
        }
      }
      if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != 'x') {
        ++at;
        out += ' ';
        continue;
      }
      if (text[at] == '{') {
        const size_t end = text.find('}', at);
        if (end != std::string_view::npos && end - at <= 20) {
          at = end;
          out += ' ';
          continue;
        }
      }
      out += text[at];
    }
    return out;
  }

  std::string_view line_;
  std::string out_;
  bool suspicious_ = false;
  bool command_ = false;              // the line makes a command
  bool login_ = false;                // the line contains the name of a user
  bool in_path_ = false;              // root / "data"
  bool key_ = false;                  // the text is the key of a dict
  std::string assigned_;              // the first name that the line sets
  std::string open_;                  // brackets
  int depth_ = 0, target_depth_ = 0;  // of brackets
  bool assert_ = false;
  bool sentence_ = false;           // after raise, or after the comma of assert
  bool index_ = false;              // directly after [
  bool first_ = false;              // first in its brackets, before a comma
  bool of_secret_ = false;          // after "--password"
  std::string name_, target_;       // the last name; the one that is assigned to
  std::vector<std::string> calls_;  // whose parentheses are open
};

}  // namespace

std::string redact_source(std::string_view line) {
  const std::string text = hide_private_keys(std::string(line));
  return SourceLine(text).redacted();
}

}  // namespace headway
