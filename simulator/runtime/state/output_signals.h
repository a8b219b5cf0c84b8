// The simulated GPU writes where the program would not: a finding on stderr, a line of the record.
// That must not end the program.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace lockstep::runtime {

// While it lives, what this thread writes beyond the limit of file sizes, or into a pipe that
// nobody reads, fails and raises no signal.
class OutputSignalsHeldBack {
 public:
  OutputSignalsHeldBack() {
    sigemptyset(&signals_);
    for (const int signal : {SIGXFSZ, SIGPIPE}) sigaddset(&signals_, signal);
    sigset_t pending;
    sigpending(&pending);
    // One that waits already is the program's own.
    for (const int signal : {SIGXFSZ, SIGPIPE}) {
      if (sigismember(&pending, signal) == 1) sigdelset(&signals_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~OutputSignalsHeldBack() {
    const int error = errno;
    const timespec at_once{};
    while (sigtimedwait(&signals_, nullptr, &at_once) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  OutputSignalsHeldBack(const OutputSignalsHeldBack&) = delete;
  OutputSignalsHeldBack& operator=(const OutputSignalsHeldBack&) = delete;

 private:
  sigset_t signals_, before_;
};

}  // namespace lockstep::runtime
