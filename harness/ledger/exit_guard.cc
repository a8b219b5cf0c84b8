#include "harness/ledger/exit_guard.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace lockstep::exit_guard {
namespace {

// One thread writes while handlers may read: bytes may be torn, but never out of range.
std::array<char, 512> g_running{};
std::array<char, 4096> g_case{}, g_replay{};

void keep(std::string_view text, std::span<char> place) {
  place[0] = '\0';
  const std::size_t n = std::min(text.size(), place.size() - 1);
  std::copy_n(text.data() + (n > 0 ? 1 : 0), n > 0 ? n - 1 : 0, place.begin() + 1);
  place[std::max<std::size_t>(n, 1)] = '\0';
  if (n > 0) place[0] = text[0];  // last: a handler then sees no text or a whole one
}

std::atomic<pid_t> g_armed_in{0};

bool armed() { return g_armed_in.load() != 0 && g_armed_in.load() == getpid(); }

// From here on only async-signal-safe calls.
void say(const char* text) {
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, std::strlen(text));
}

void say_what_ran() {
  if (g_running[0] != '\0') {
    say(" while ");
    say(g_running.data());
    say(" was running");
  } else {
    say(" between properties");
  }
  say(": what it had not reached is NOT RUN.");
  if (g_case[0] != '\0') {
    say(kCase);
    say(g_case.data());
    say(kReplay);
    say(g_replay.data());
  }
  say("\n");
}

[[noreturn]] void leave(int status) {
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

// `how`: the function that the program called.
[[noreturn]] void report_early_exit(const char* how) {
  g_armed_in = 0;
  say("\n[ LEDGER ] The process called ");
  say(how);
  say_what_ran();
  leave(kEarlyExit);
}

void on_exit_called() {
  if (!armed()) return;
  std::fflush(nullptr);
  report_early_exit("exit");
}

void on_quick_exit_called() {
  if (armed()) report_early_exit("quick_exit");
}

void on_signal(int signal) {
  if (armed()) {
    say("\n[ LEDGER ] ");
    say(signal == SIGTERM ? "The runner ended the process (time limit?)"
                          : "The process was hit by the signal SIG");
    if (signal != SIGTERM) say(sigabbrev_np(signal));
    say_what_ran();
  }
  // The handler is installed for one delivery. The second delivery ends the process with the
  // signal's status.
  raise(signal);
}

void install_signal_handlers() {
  // A separate stack, so that even a stack overflow prints its property.
  static std::array<char, 64 * 1024> stack;
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  sigaltstack(&alternative, nullptr);
  for (int signal : {SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND) | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void arm() {
  std::atexit(on_exit_called);
  std::at_quick_exit(on_quick_exit_called);
  install_signal_handlers();
  g_armed_in = getpid();
}

void running(std::string_view property) { keep(property, g_running); }

void running_case(std::string_view text, std::string_view replay) {
  keep("", g_case);
  keep(replay, g_replay);
  keep(text, g_case);
}

void disarm() { g_armed_in = 0; }

}  // namespace lockstep::exit_guard

// _exit and _Exit run no handlers. These definitions replace the C library's for calls from the
// program and its libraries. If the guard is off, or in a forked child, they behave like the
// originals.
extern "C" {
void _exit(int status) {
  if (lockstep::exit_guard::armed()) lockstep::exit_guard::report_early_exit("_exit");
  lockstep::exit_guard::leave(status);
}
void _Exit(int status) {
  if (lockstep::exit_guard::armed()) lockstep::exit_guard::report_early_exit("_Exit");
  lockstep::exit_guard::leave(status);
}
}
