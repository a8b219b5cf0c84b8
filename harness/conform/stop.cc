#include "harness/conform/stop.h"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace lockstep {
namespace {

std::atomic<int> signal_taken = 0;
std::atomic<bool> failed = false;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void take(int signal) { signal_taken = signal; }

}  // namespace

void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = take;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

void stop_at_failure() { failed = true; }

std::string stop_reason() {
  if (const int signal = signal_taken; signal != 0)
    return fmt::format("interrupted by SIG{}", sigabbrev_np(signal));
  return failed ? "stopped at the first failure" : "";
}

int stop_status() { return signal_taken == 0 ? 0 : 128 + signal_taken; }

}  // namespace lockstep
