#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headway/trace/trace.h"

// Removes secrets from text of a program or its user, because traces are sent to others. One
// function for each kind of text; "***" replaces what was removed. In doubt it is removed: from a
// command line, a string in code or an error, only what has a harmless shape is kept. Applying it
// twice changes nothing more. Callable from any thread.
namespace headway {

// Keeps every word except secrets that can be recognised
//   by name    API_KEY=..., --password ..., "token": "...", Authorization: Bearer ...
//   by shape   AKIA..., ghp_..., a JWT, a private key, long hex or base64, https://me:pass@host
// For sentences of our own that quote something, and for text that was already redacted below.
//
//   redact("fetch https://me:hunter2@host/a.jpg")  ->  "fetch https://***@host/a.jpg"
std::string redact(std::string_view text);

// A command line, word by word (/proc/PID/cmdline). Values are kept if the option has a known name
// (--data-dir /data/train) or if the value cannot be a secret (-j 8). Arguments of a shell (sh -c)
// are read as commands.
//
//   {"train.py", "--lr", "1e-3", "--pw", "two words"}  ->  {"train.py", "--lr", "1e-3", "--pw",
//   "***"}
std::vector<std::string> redact_command(const std::vector<std::string>& words);
std::string command_text(const std::vector<std::string>& words);  // the same in one line

// NAME=value of an environment.
std::string redact_assignment(std::string_view text);

// The value of a variable, as it is or as Python prints it: numbers, "list of 3" or a path; empty
// if it is anything else.
std::string redact_variable(std::string_view name, std::string_view value);

// One line of Python. Code is kept; of strings and comments only what is clearly harmless.
//
//   login("me", "hunter2")  ->  login("***", "***")
std::string redact_source(std::string_view line);

// The message of an exception, alone or at the end of a traceback.
std::string redact_exception(std::string_view text);

// An address without login, unknown query values, and parts of its path that look random.
std::string redact_url(std::string_view url);

// The name of a file or a folder.
std::string redact_path(std::string_view path);

// Is this the name of a secret? "AWS_SECRET_ACCESS_KEY", "hf-token", "dbPassword": yes;
// "max_tokens", "tokenizer", "keyboard", "key_dim": no.
bool names_a_secret(std::string_view name);

// The free texts of a run: its name, what it reads, how it ended.
RunFacts redacted(RunFacts run);

}  // namespace headway
