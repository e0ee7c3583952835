#include <algorithm>
#include <array>
#include <utility>

#include "headway/trace/characters.h"
#include "headway/trace/commands.h"
#include "headway/trace/harmless.h"
#include "headway/trace/messages.h"
#include "headway/trace/plain_words.h"
#include "headway/trace/redact.h"
#include "headway/trace/secret_shapes.h"

namespace headway {
namespace {

const std::string kGone(kHidden);

enum class Trust { kNone, kUnknown, kKnown };  // in the value after a name

Trust trust_in(std::string_view name) {
  if (names_a_secret(name)) return Trust::kNone;
  const std::vector<std::string> words = words_of(name);
  if (!words.empty() && is_secret_word(words.back())) return Trust::kUnknown;  // "memory_key"
  return is_known_name(name) ? Trust::kKnown : Trust::kUnknown;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 80 && !is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_alnum(c) || c == '_' || c == '.' || c == '-' || c == '+' || c == '~';
         });
}

std::string shown(std::string_view value, std::string_view name);

bool is_list_of_paths(std::string_view value) {
  for (size_t at = 0; at <= value.size();) {
    const size_t end = std::min(value.find(':', at), value.size());
    const std::string_view part = value.substr(at, end - at);
    if (!part.empty() && (part[0] != '/' || !is_plain_path(part))) return false;
    at = end + 1;
  }
  return true;
}

std::string shown_pair(std::string_view name, std::string_view value) {
  return std::string(name) + "=" + shown(value, name);
}

// "localhost:8080", "cuda:0", "app:server"
bool is_port(std::string_view value) {
  const size_t colon = std::min(value.find(':'), value.size() - 1);
  const std::string_view host = value.substr(0, colon), port = value.substr(colon + 1);
  const bool number = port.size() <= 5 && std::all_of(port.begin(), port.end(), is_digit);
  return is_plain_name(host) && !names_a_login(host) && host != "root" &&
         (number || (is_known_name(host) && is_plain_word(port)));
}

// "gpu01:8,gpu02:8"
bool is_list_of_ports(std::string_view value) {
  for (size_t at = 0; at < value.size();) {
    const size_t end = std::min(value.find(',', at), value.size());
    if (end == at || !is_port(value.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

// "c10d", "ib0"
bool is_short_choice(std::string_view value) {
  return value.size() <= 5 &&
         std::all_of(value.begin(), value.end(), [](char c) { return is_lower(c) || is_digit(c); });
}

// "GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c"
bool holds_uuid(std::string_view value) {
  constexpr size_t kUuid = 36;
  const std::string rest = without_hashes(value);
  return rest.size() + kUuid == value.size() && is_spoken_name(rest);
}

// "MSFT"
bool is_acronym(std::string_view value) {
  return value.size() <= 5 && std::all_of(value.begin(), value.end(), is_upper);
}

// "backup:/archive/runs/", "ina@nas:/sets/coco"
bool is_remote_path(std::string_view value) {
  const size_t colon = value.find(":/");
  if (colon == value.npos || colon < 2 || value.find(':', colon + 1) != value.npos) return false;
  const std::string_view host = value.substr(0, colon), path = value.substr(colon + 1);
  return is_spoken_name(host) && host.find_first_of(" :/") == host.npos && is_plain_path(path) &&
         std::count(path.begin(), path.end(), '/') > 1 && !names_a_secret(value);
}

// "nvcr.io/nvidia/pytorch:23.10-py3"
bool is_image(std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == value.npos || value.find('@') != value.npos) return false;
  const std::string_view name = value.substr(0, colon), version = value.substr(colon + 1);
  return name.find('/') != name.npos && is_plain_path(name) && is_plain_name(version) &&
         version.find('.') != version.npos && version.find_first_of(":/") == version.npos;
}

// "--object-store-memory 20000000000"
bool is_measure(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 14> kWords = {
      "memory", "mem", "bytes", "size", "count", "tokens", "steps",
      "seed",   "id",  "limit", "len",  "max",   "min",    "samples"};
  const std::vector<std::string> words = words_of(name);
  return value.size() <= 20 && std::all_of(value.begin(), value.end(), is_digit) &&
         !words.empty() && std::find(kWords.begin(), kWords.end(), words.back()) != kWords.end();
}

// "enp5s0f0", "=mlx5_0:1,mlx5_1:1"
bool is_network_device(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 5> kWords = {"ifname", "iface", "interface", "hca", "nic"};
  const std::vector<std::string> words = words_of(name);
  return value.size() <= 64 && !words.empty() &&
         std::find(kWords.begin(), kWords.end(), words.back()) != kWords.end() &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return is_lower(c) || is_digit(c) ||
                  std::string_view("_:,.^=").find(c) != std::string_view::npos;
         });
}

// "| /usr/bin/lesspipe %s"
bool is_filter(std::string_view value) {
  if (value.find(" /") == value.npos && value[0] != '/') return false;
  for (size_t at = 0; at < value.size();) {
    const size_t end = std::min(value.find(' ', at), value.size());
    const std::string_view word = value.substr(at, end - at);
    const bool path = word.starts_with("/") && is_plain_path(word) && !is_shaped(word);
    if (!path && word != "|" && word != "-" && !without_blanks_to_fill(word).empty()) return false;
    at = end + 1;
  }
  return true;
}

// Where the name is known, a value without separators may be any word.
bool is_harmless(std::string_view value, std::string_view name, Trust trust) {
  if (is_short_number(value) || is_plain_path(value)) return !is_shaped(value);
  if (names_a_hash(name) && is_hash(value)) return true;
  if (trust == Trust::kKnown && holds_uuid(value)) return true;
  if (numbers_things(name) && is_number_of_thing(value)) return true;
  if (is_measure(name, value) || is_network_device(name, value)) return true;
  if (value.starts_with("unix:path=/") && is_plain_path(value.substr(10))) return true;
  if (is_shaped(value)) return false;
  if (is_test_id(value) || (is_remote_path(value) && !names_a_login(name)) ||
      is_name_of_run(value, trust != Trust::kKnown) || is_shell(value) || is_image(value))
    return true;
  if (is_code_name(value) || is_acronym(value) || is_command_word(value) || is_marks(value))
    return true;
  const bool several = value.find_first_of(" :") != std::string_view::npos;
  if (several && names_a_secret(value)) return false;
  if (trust == Trust::kKnown && is_short_choice(value)) return true;
  if (is_plain_name(value)) return !several || trust == Trust::kKnown || is_list_of_ports(value);
  if (names_free_text(name) && value.find(' ') != value.npos)
    return redact_sentence(value, Care::kSpoken) == value;
  if (trust != Trust::kKnown) return false;
  const bool letters = std::none_of(value.begin(), value.end(), is_digit);
  if (letters && value.find_first_of(" :({[;=") == value.npos) return is_spoken_name(value);
  if (several || value.find_first_of("({[,;=") != value.npos) return is_plain_structure(value);
  return is_spoken_name(value) && value.find('/') == value.npos;
}

std::string shown(std::string_view value, std::string_view name) {
  if (value.empty()) return "";
  const Trust trust = trust_in(name);
  if (trust == Trust::kNone)
    return may_stay_behind_secret(name, value) ? std::string(value) : kGone;
  if (value.find("://") != std::string_view::npos)
    return value.find_first_of(" \t\n'\"") == std::string_view::npos ? redact_url(value) : kGone;
  if (is_harmless(value, name, trust) || is_list_of_paths(value) || is_filter(value))
    return std::string(value);
  if (const std::string filled = without_blanks_to_fill(value); filled != value)
    return filled.empty() || shown(filled, name) == filled ? std::string(value) : kGone;
  if (const size_t equals = value.find('='); equals < value.size() && value[0] != '-') {
    if (is_name(value.substr(0, equals)) && is_spoken_name(value.substr(0, equals)))
      return shown_pair(value.substr(0, equals), value.substr(equals + 1));
  }
  return kGone;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !is_digit(word[1]) && word[1] != '.';
}

// "-j8", "-vv", "-batch_size" unchanged; "-pswordfish" without what may be a value.
std::string shown_short(std::string_view word) {
  if (word.size() <= 2) return std::string(word);
  const std::string_view rest = word.substr(2);
  constexpr std::string_view kOftenSecret = "apuPUkt";
  const bool flags = rest.size() <= 2 && std::all_of(rest.begin(), rest.end(), is_letter) &&
                     kOftenSecret.find(word[1]) == std::string_view::npos;
  const bool named = is_plain_name(word.substr(1)) && word.find(':') == std::string_view::npos;
  if (flags || named || is_code_name(rest) || is_short_number(rest)) return std::string(word);
  return std::string(word.substr(0, 2)) + kGone;
}

std::string shown_option(std::string_view word) {
  if (!word.starts_with("--")) return shown_short(word);
  return is_spoken_name(word.substr(2)) && !is_shaped(word) ? std::string(word) : "--" + kGone;
}

std::string redact_lines(std::string_view code) {
  std::string out;
  for (size_t at = 0; at <= code.size();) {
    const size_t end = std::min(code.find('\n', at), code.size());
    out += (at > 0 ? "\n" : "") + redact_source(code.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// "--metrics bleu rouge": the words after the first value belong to it, too.
bool takes_several(std::string_view option) {
  return option.ends_with("s") && option.size() > 3 && is_known_name(option);
}

bool logs_in(std::string_view program) {
  constexpr std::array<std::string_view, 5> kPrograms = {"ssh", "scp", "sftp", "rsync", "sshfs"};
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return std::find(kPrograms.begin(), kPrograms.end(), name) != kPrograms.end();
}

// "ina@gpu01", "ina@nas:/sets": ssh takes no password in this place.
bool is_user_at_host(std::string_view word) {
  const size_t at = std::min(word.find('@'), word.size());
  const std::string_view user = word.substr(0, at);
  if (at == word.size() || user.empty() || user.size() > 10 || !is_spoken(user)) return false;
  const std::string_view rest = word.substr(at + 1);
  const size_t colon = std::min(rest.find(':'), rest.size());
  const std::string_view host = rest.substr(0, colon), path = rest.substr(colon);
  return std::all_of(user.begin(), user.end(), is_lower) && is_spoken_name(host) &&
         host.find_first_of(" ,/") == host.npos &&
         (path.size() <= 1 || is_plain_path(path.substr(1)));
}

// Processes the words of a command line from left to right.
class Command {
 public:
  explicit Command(std::string_view program) { see(program); }

  std::string next(std::string_view word) {
    if (is_option(word)) return option(word);
    if (behind_secret_) {
      const std::string secret = std::exchange(option_, "");
      const bool stays = !secret.empty() && may_stay_behind_secret(secret, word);
      behind_secret_ = !stays || is_switch(word);
      return stays ? std::string(word) : kGone;
    }
    const std::string name = std::exchange(option_, "");
    if (python_ && name == "-c") return redact_lines(word);
    if (python_ && name == "-m") return is_spoken_name(word) ? std::string(word) : kGone;
    if (shell_ && name.ends_with("c")) return redact_shell(word);
    if (names_a_login(name) && word.find(':') != std::string_view::npos) return kGone;
    see(word);
    if (remote_ && name.size() <= 2 && is_user_at_host(word)) return std::string(word);
    const bool further = std::exchange(further_, false);
    const bool letters = std::none_of(word.begin(), word.end(), is_digit);
    const std::string out = shown(word, name.size() > 2 && (letters || !further) ? name : "");
    further_ = takes_several(name) && out == word && is_spoken_name(word);
    if (further_) option_ = name;
    return out;
  }

 private:
  void see(std::string_view program) {
    python_ |= program.substr(program.rfind('/') + 1).starts_with("python");
    shell_ |= is_shell(program);
    remote_ |= logs_in(program);
  }

  std::string option(std::string_view word) {
    further_ = false;
    const size_t equals = std::min(word.find('='), word.size());
    behind_secret_ = names_a_secret(word.substr(0, equals));
    std::string out = shown_option(word.substr(0, equals));
    option_ = equals == word.size() && !out.ends_with(kHidden) ? out : "";
    if (equals < word.size()) out += "=" + shown(word.substr(equals + 1), word.substr(0, equals));
    return out;
  }

  bool python_ = false, shell_ = false, remote_ = false;
  bool behind_secret_ = false, further_ = false;
  std::string option_;  // the previous word, if it needs a value
};

std::vector<std::string> parted(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of(text, at, [](char c) { return !is_blank(c); });
    if (end > at) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

std::vector<std::string> redact_command(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  // A process that changed its title has everything in one word.
  if (words.size() == 1 && words[0].find(' ') != std::string::npos)
    return redact_command(parted(words[0]));
  std::vector<std::string> out;
  const std::string& program = words[0];
  const bool harmless = std::all_of(program.begin(), program.end(), [](char c) {
    return is_alnum(c) || std::string_view("/._-+").find(c) != std::string_view::npos;
  });
  out.push_back(harmless && !is_shaped(program) ? program : kGone);
  Command command(program);
  for (size_t i = 1; i < words.size(); ++i) out.push_back(command.next(words[i]));
  return out;
}

std::string command_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : redact_command(words)) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string redact_assignment(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_name(text.substr(0, equals))) return kGone;
  const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1);
  if (name == "PWD" || name == "OLDPWD") return shown_pair("folder", value).replace(0, 6, name);
  const bool login = name == "USER" || name == "LOGNAME" || name == "USERNAME";
  if (login && is_spoken(value) && std::all_of(value.begin(), value.end(), is_letter))
    return std::string(text);
  if (!is_option(value) || names_a_secret(name)) return shown_pair(name, value);
  std::vector<std::string> words = parted(value);  // XLA_FLAGS=--xla_...
  words.insert(words.begin(), "flags");
  return std::string(name) + "=" + command_text(words).substr(6);
}

// 'x' and PosixPath('x') -> x
std::string_view unquoted(std::string_view value) {
  const size_t open = value.find('(');
  if (open < value.size() && value.substr(0, open).ends_with("Path") && value.ends_with(")"))
    value = value.substr(open + 1, value.size() - open - 2);
  const bool quoted = value.size() >= 2 && is_quote(value[0]) && value.back() == value[0];
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::string redact_variable(std::string_view name, std::string_view shown) {
  const std::string_view value = unquoted(shown);
  if (names_a_secret(name) || is_shaped(value)) return "";
  if (value.find("://") != std::string_view::npos)
    return redact_url(value) == value ? std::string(shown) : "";
  const bool number = is_short_number(value) || value == "nan" || value == "inf" || value == "-inf";
  const bool length = value.starts_with("list of ") && is_short_number(value.substr(8));
  const bool numbers = value.find_first_of("([") < value.size() && is_plain_structure(value);
  return number || length || numbers || is_plain_path(value) ? std::string(shown) : "";
}

}  // namespace headway
