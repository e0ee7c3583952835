#include "cli/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace headway::cli {
namespace {

volatile std::sig_atomic_t pending_signal = 0;

void note_signal(int signal) { pending_signal = signal; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // a job behind `&`
  }
}

bool interrupted() { return pending_signal != 0; }

void check_interrupt() {
  if (interrupted()) throw Interrupted(pending_signal);
}

}  // namespace headway::cli
