#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headway/probe/process/target_file.h"
#include "headway/probe/source/source_facts.h"
#include "headway/trace/outside.h"

namespace headway {

// "mask[0, y, x] = ..." or getpixel(): does the line access a single element of an array?
bool touches_one_element(const std::string& line);

// Does the line call a library that makes or reads data and does not train: numpy, PIL, json,
// open() ...?
bool calls_for_data(const std::string& line);

// Does the line itself take a lock or wait for a thread? If not, a library that it calls waits for
// its own threads. True if nothing is known about the line.
bool may_take_a_lock(const std::string& line);

// "while os.path.exists(lock_path):", os.open(..., O_EXCL): does the line ask for a lock that is a
// file?
bool names_a_lock_file(const std::string& line);

// Does this file belong to the author of the program, not to a library or to Python itself?
bool is_users_file(const std::string& file);

// Source text of a watched process, as that process sees its files and may read them: files of its
// own user, and files of root that all may read. Remembers what it read.
class SourceLines {
 public:
  explicit SourceLines(pid_t pid) : pid_(pid), user_(file_user_of(pid)) {}

  // Without blanks at either end; empty if the file does not exist. Secrets are hidden.
  std::string text(const std::string& file, int64_t line);
  // How many loops of its own function are around this line, and whether one of them is a
  // `while`.
  struct Loops {
    int64_t count = 0;
    bool endless = false;
    bool asks_for_lock = false;  // in the loop, up to this line: checks whether a lock file exists
  };
  Loops loops_around(const std::string& file, int64_t line);
  // The lines of its function that use what this line assigns (source_flow.h).
  const std::vector<int64_t>& lines_fed(const std::string& file, int64_t line);
  // Does the function that begins at this line contain a `while True`?
  bool has_endless_loop(const std::string& file, int64_t first_line);
  // The functions of this file that yield inside a `while True`. None if the file also limits them,
  // by take(), islice() or steps_per_epoch.
  const std::vector<std::string>& endless_generators(const std::string& file);
  const SourceFacts& facts(const std::string& file);
  // Is this line in a function that validates a model (source_validation.h)?
  bool validates(const std::string& file, int64_t line);
  // Does this line call a function that JAX compiles? Such a call leaves no frame on the stack.
  bool calls_compiled(const std::string& file, int64_t line);
  // Lines of this file that set the number of compute threads.
  const std::vector<SeenThreadSetting>& thread_settings(const std::string& file);
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  const std::vector<std::string>& lines_of(const std::string& file);
  const std::vector<std::string>& compiled_functions(const std::string& file);

  std::string read_file(const std::string& file) const;

  pid_t pid_;
  std::optional<FileUser> user_;
  size_t kept_bytes_ = 0;
  std::map<std::string, std::vector<std::string>> files_;
  std::map<std::pair<std::string, int64_t>, std::vector<int64_t>> fed_;
  std::map<std::string, std::vector<std::string>> endless_;
  std::map<std::string, SourceFacts> facts_;
  std::map<std::string, std::vector<SeenThreadSetting>> settings_;
  std::map<std::string, std::vector<std::string>> compiled_;  // names of functions
};

}  // namespace headway
