#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace headway {

// Is this file of the person who wrote the program, and not of a library or of Python itself?
bool is_users_file(const std::string& file);

// Source text of a watched process, seen as it sees its files. Remembers what it read.
class SourceLines {
 public:
  explicit SourceLines(pid_t pid) : pid_(pid) {}

  // Without blanks at both ends; empty when the file is not there. Secrets are hidden.
  std::string text(const std::string& file, int64_t line);
  // How many loops of its own function stand around this line.
  int64_t loops_around(const std::string& file, int64_t line);
  // Is there a `while True` in the function that begins at this line?
  bool has_endless_loop(const std::string& file, int64_t first_line);
  // The functions of this file that yield inside a `while True`. None when the file also says where
  // to stop, by take() or islice().
  const std::vector<std::string>& endless_generators(const std::string& file);
  // The first line of this file that decodes images in TensorFlow's own threads; 0: none does.
  int64_t decoding_line(const std::string& file);

 private:
  const std::vector<std::string>& lines_of(const std::string& file);
  static int64_t find_decoding_line(const std::vector<std::string>& lines);

  pid_t pid_;
  std::map<std::string, std::vector<std::string>> files_;
  std::map<std::string, std::vector<std::string>> endless_;
  std::map<std::string, int64_t> decoding_;
};

}  // namespace headway
