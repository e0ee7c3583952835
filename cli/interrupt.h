#pragma once

#include <exception>

namespace headway::cli {

// Thrown where a verb stands when Ctrl-C (or SIGTERM) came: everything is joined and cleaned up on
// the way out, and the exit status is 128 + signal, as a shell expects.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  int exit_status() const { return 128 + signal_; }
  const char* what() const noexcept override { return "interrupted"; }

 private:
  int signal_;
};

// From now on the first Ctrl-C is noted; a second one ends the program at once.
void catch_interrupts();

// Has one come?
bool interrupted();
// Throws Interrupted if one came. Call between elements, from the main thread.
void check_interrupt();

}  // namespace headway::cli
