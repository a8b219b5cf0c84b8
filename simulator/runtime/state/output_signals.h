// The simulated GPU writes where the program itself would not: findings to stderr, lines to the
// record. A failed write must not end the program by a signal.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace lockstep::runtime {

// During its lifetime, writes of this thread beyond the file size limit, or into a pipe without a
// reader, fail without raising a signal.
class OutputSignalsHeldBack {
 public:
  OutputSignalsHeldBack() {
    sigemptyset(&signals_);
    for (const int signal : {SIGXFSZ, SIGPIPE}) sigaddset(&signals_, signal);
    sigset_t pending;
    sigpending(&pending);
    // A signal that is already pending belongs to the program.
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
