#include "cli/interrupt.h"

#include <csignal>

namespace headway::cli {
namespace {

volatile std::sig_atomic_t pending_signal = 0;

void note_signal(int signal) { pending_signal = signal; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return pending_signal != 0; }

void check_interrupt() {
  if (interrupted()) throw Interrupted(pending_signal);
}

}  // namespace headway::cli
