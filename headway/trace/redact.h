#pragma once

#include <string>
#include <string_view>

#include "headway/trace/trace.h"

namespace headway {

// `text` with "***" in place of what looks like a secret:
//   by name    API_KEY=..., --password ..., "token": "...", Authorization: Bearer ...
//   by shape   AKIA..., ghp_..., a JWT, a private key, long hex or base64,
//   https://user:password@host
// Paths, numbers and sentences stay as they are. In doubt something goes: a report is made to be
// sent around. Twice is the same as once.
//
//   redact("fetch https://me:hunter2@host/a.jpg")  ->  "fetch https://***@host/a.jpg"
std::string redact(std::string_view text);

// Is this the name of a secret? "AWS_SECRET_ACCESS_KEY", "hf-token", "dbPassword": yes;
// "max_tokens", "tokenizer", "keyboard": no.
bool names_a_secret(std::string_view name);

// The free texts of a run: what it is called, what it reads, how it ended.
RunFacts redacted(RunFacts run);

}  // namespace headway
