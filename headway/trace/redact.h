#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headway/trace/trace.h"

// Text that comes from a program or its user, without secrets: a trace is made to be sent around.
// One function for each kind of text; "***" stands for what is gone. In doubt something goes: of a
// command line, a string in code or an error only what has a harmless shape stays. Twice is the
// same as once. From any thread.
namespace headway {

// Word for word, but without
//   by name    API_KEY=..., --password ..., "token": "...", Authorization: Bearer ...
//   by shape   AKIA..., ghp_..., a JWT, a private key, long hex or base64, https://me:pass@host
// For sentences of our own that quote something, and for what went through one of the others.
//
//   redact("fetch https://me:hunter2@host/a.jpg")  ->  "fetch https://***@host/a.jpg"
std::string redact(std::string_view text);

// A command line, word by word (/proc/PID/cmdline). Values stay where the option has a known name
// (--data-dir /data/train) or the value cannot be a secret (-j 8). What a shell is told (sh -c) is
// read as commands.
//
//   {"train.py", "--lr", "1e-3", "--pw", "two words"}  ->  {"train.py", "--lr", "1e-3", "--pw",
//   "***"}
std::vector<std::string> redact_command(const std::vector<std::string>& words);
std::string command_text(const std::vector<std::string>& words);  // the same in one line

// NAME=value of an environment.
std::string redact_assignment(std::string_view text);

// The value of a variable, plain or as Python shows it: numbers, "list of 3" or a path; empty when
// it is anything else.
std::string redact_variable(std::string_view name, std::string_view value);

// One line of Python. Code stays; of strings and remarks only what is plainly harmless.
//
//   login("me", "hunter2")  ->  login("***", "***")
std::string redact_source(std::string_view line);

// What an exception says, alone or below a traceback.
std::string redact_exception(std::string_view text);

// An address: no login, no unknown value of its query, no part of its path that looks random.
std::string redact_url(std::string_view url);

// The name of a file or a folder.
std::string redact_path(std::string_view path);

// Is this the name of a secret? "AWS_SECRET_ACCESS_KEY", "hf-token", "dbPassword": yes;
// "max_tokens", "tokenizer", "keyboard", "key_dim": no.
bool names_a_secret(std::string_view name);

// The free texts of a run: what it is called, what it reads, how it ended.
RunFacts redacted(RunFacts run);

}  // namespace headway
