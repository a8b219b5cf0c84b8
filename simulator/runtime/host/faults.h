// Detects the program's accesses to protected pages by signals.
//
// An access to a protected page raises SIGSEGV. A judge decides whether the page is opened
// permanently or for this one instruction. In the second case the processor's trap flag is set, so
// that SIGTRAP follows the instruction and the page is closed again. All other signals are passed
// to the program's handlers. Supported on x86-64 only.
#pragma once

#include <signal.h>

#include "simulator/runtime/host/guarded_pages.h"

namespace lockstep::runtime {

struct HostAccess {
  memory::Address address = 0;  // of the first accessed byte on the page
  unsigned bytes = 1;           // as far as the instruction determines it
  bool writes = false;
  const void* at = nullptr;  // the instruction
  // Only the first byte is certainly needed: strlen() and similar functions read whole vectors.
  bool overreads = false;
};

enum class Verdict : std::uint8_t { kOpen, kOpenWithOthers, kStep };

// Called for a fault on a protected page, in the thread that caused it, on that thread's signal
// stack.
using Judge = Verdict (*)(const HostAccess& access);

// Starts judging faults on `pages`. If the program replaces our handler, its handler is called
// after ours. Call before pages are protected. Returns false if a thread of the process blocks the
// signals, or a debugger receives them; then no page may be protected.
bool watch_faults(GuardedPages* pages, Judge judge);

// The program calls sigaction() for SIGSEGV or SIGTRAP while our handlers are installed: stores its
// handler, which is called for signals that are not ours. Returns false if ours are not installed.
bool keep_program_action(int signal, const struct sigaction* action, struct sigaction* former);

// Whether the thread runs on its alternate signal stack, which may be small.
bool on_signal_stack();

}  // namespace lockstep::runtime
