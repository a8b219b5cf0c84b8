// Accesses of the program to protected pages: the signals by which they show.
//
// SIGSEGV comes where an instruction of the program meets a protected page. What becomes of it is
// for a judge to say: the page is opened for good, or for this one instruction. For the latter the
// processor's trap flag is set; SIGTRAP comes behind the instruction, and the page is closed again.
// Handlers of the program get all other signals. Only x86-64 has this.
#pragma once

#include <signal.h>

#include "simulator/runtime/host/guarded_pages.h"

namespace lockstep::runtime {

struct HostAccess {
  memory::Address address = 0;  // of the first byte on the page
  unsigned bytes = 1;           // as far as the instruction shows
  bool writes = false;
  const void* at = nullptr;  // the instruction
  // Only the first byte is known to be wanted: strlen() and the like read vectors.
  bool overreads = false;
};

enum class Verdict : std::uint8_t { kOpen, kOpenWithOthers, kStep };

// Called for a fault on a protected page, in the thread that made it and on the stack that its
// signals have.
using Judge = Verdict (*)(const HostAccess& access);

// From now on faults on `pages` are judged. A handler that the program has put in the place of ours
// is called behind ours again. To be called before pages are protected. False: a thread of the
// process blocks the signals, or a debugger has them; then no page may be protected.
bool watch_faults(GuardedPages* pages, Judge judge);

// What the program asks of sigaction() for SIGSEGV and SIGTRAP while ours are installed: it is
// kept, and called for what is not ours. False: ours are not installed.
bool keep_program_action(int signal, const struct sigaction* action, struct sigaction* former);

// Whether the thread runs on its alternate signal stack, which may be small.
bool on_signal_stack();

}  // namespace lockstep::runtime
