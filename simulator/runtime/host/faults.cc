#include "simulator/runtime/host/faults.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>

#include "simulator/runtime/host/access_width.h"

namespace lockstep::runtime {
namespace {

#if defined(__x86_64__)

constexpr greg_t kTrapFlag = 0x100;
constexpr int kSignals[] = {SIGSEGV, SIGTRAP};

std::atomic<GuardedPages*> guarded{nullptr};
std::atomic<Judge> judge_of{nullptr};

// What the program has for a signal, by its place in kSignals.
struct sigaction programs[2];
std::mutex programs_mutex;
std::atomic<bool> installed{false};

int index_of(int signal) { return signal == SIGSEGV ? 0 : signal == SIGTRAP ? 1 : -1; }

// The pages that are open for the instruction that the thread executes. No constructor and no
// allocation: a signal may come at any time.
struct Step {
  memory::Address pages[4];
  int count;
  greg_t at;               // the instruction
  memory::Address opened;  // where another thread had opened the page
  int times;
};
__attribute__((tls_model("initial-exec"))) thread_local Step step;

void end_step() {
  GuardedPages* const pages = guarded.load();
  for (; step.count > 0; --step.count) pages->end_step(step.pages[step.count - 1]);
}

// As the system would do it.
void to_program(int signal, siginfo_t* info, void* context) {
  struct sigaction action;
  {
    const std::lock_guard lock(programs_mutex);
    action = programs[index_of(signal)];
    if ((action.sa_flags & SA_RESETHAND) != 0) programs[index_of(signal)].sa_handler = SIG_DFL;
  }
  const bool with_information = (action.sa_flags & SA_SIGINFO) != 0;
  if (!with_information && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    // The instruction faults again, and the process dies of it.
    if (action.sa_handler == SIG_IGN && info->si_code <= 0) return;
    struct sigaction nothing {};
    nothing.sa_handler = SIG_DFL;
    installed = false;
    sigaction(signal, &nothing, nullptr);
    if (info->si_code <= 0 || signal == SIGTRAP) raise(signal);
    return;
  }
  sigset_t mask = action.sa_mask, before;
  if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  if (with_information) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Whether it was one of ours.
bool was_guarded(const siginfo_t& info, ucontext_t& context) {
  GuardedPages* const pages = guarded.load();
  if (info.si_code != SEGV_ACCERR || pages == nullptr) return false;
  greg_t* const registers = context.uc_mcontext.gregs;
  HostAccess access;
  access.address = reinterpret_cast<memory::Address>(info.si_addr);
  access.writes = (registers[REG_ERR] & 2) != 0;
  access.at = reinterpret_cast<const void*>(registers[REG_RIP]);
  if ((registers[REG_ERR] & 16) != 0) return false;  // an instruction was fetched
  switch (pages->state(access.address, access.writes)) {
    case GuardedPages::State::kNone: return false;
    case GuardedPages::State::kOpen:
      // Unless the program has protected the page itself, the instruction meets it open now.
      if (step.opened != access.address) step.times = 0;
      step.opened = access.address;
      return ++step.times < 16;
    case GuardedPages::State::kProtected: break;
  }
  step.opened = 0;
  access.bytes = access_width(static_cast<const std::uint8_t*>(access.at));
  if (step.count > 0 && step.at != registers[REG_RIP]) end_step();  // it was left by a jump
  const Verdict verdict = judge_of.load()(access);
  if (verdict == Verdict::kStep && step.count < static_cast<int>(std::size(step.pages)) &&
      pages->begin_step(access.address)) {
    step.pages[step.count++] = access.address;
    step.at = registers[REG_RIP];
    registers[REG_EFL] |= kTrapFlag;
  } else {
    pages->open(access.address, verdict != Verdict::kOpen);
  }
  return true;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  auto& of_thread = *static_cast<ucontext_t*>(context);
  if (signal == SIGTRAP && step.count > 0 && info->si_code == TRAP_TRACE) {
    of_thread.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    end_step();
  } else if (signal != SIGSEGV || !was_guarded(*info, of_thread)) {
    to_program(signal, info, context);
  }
  errno = error;
}

// A line of a file of /proc that begins with `name`; its number, of a base. Allocates nothing.
bool read_field(const char* path, const char* name, int base, unsigned long long* value) {
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return false;
  char line[256];
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) != 0) continue;
    *value = std::strtoull(line + std::strlen(name), nullptr, base);
    found = true;
  }
  std::fclose(file);
  return found;
}

bool is_traced() {
  unsigned long long tracer = 0;
  return read_field("/proc/self/status", "TracerPid:", 10, &tracer) && tracer != 0;
}

// The C library blocks all signals in a new thread until it runs, its own two among them (nptl(7)).
// A program cannot block these two by functions of the library.
bool is_being_created(unsigned long long blocked) {
  constexpr unsigned long long kOfTheLibrary = 1ull << (32 - 1) | 1ull << (33 - 1);
  return (blocked & kOfTheLibrary) == kOfTheLibrary;
}

// Threads that do not run yet count as threads that block no signal.
bool some_thread_blocks() {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return false;
  bool blocks = false;
  while (const dirent* const entry = readdir(threads)) {
    if (entry->d_name[0] == '.') continue;
    char path[300];
    std::snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    unsigned long long blocked = 0;
    if (std::atol(entry->d_name) != gettid() && read_field(path, "SigBlk:", 16, &blocked) &&
        !is_being_created(blocked))
      blocks |= (blocked & (1ull << (SIGSEGV - 1) | 1ull << (SIGTRAP - 1))) != 0;
  }
  closedir(threads);
  return blocks;
}

void unblock_here() {
  sigset_t both;
  sigemptyset(&both);
  for (const int signal : kSignals) sigaddset(&both, signal);
  pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
}

void install() {
  for (const int signal : kSignals) {
    struct sigaction there {};
    sigaction(signal, nullptr, &there);
    if ((there.sa_flags & SA_SIGINFO) != 0 && there.sa_sigaction == on_signal) continue;
    {
      const std::lock_guard lock(programs_mutex);
      programs[index_of(signal)] = there;
    }
    struct sigaction ours {};
    ours.sa_sigaction = on_signal;
    // What the handler itself does may meet a page, too.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, nullptr);
  }
  installed = true;
}

#endif

}  // namespace

bool watch_faults(GuardedPages* pages, Judge judge) {
#if defined(__x86_64__)
  static const bool possible = [] {
    if (is_traced()) return false;
    if (some_thread_blocks()) return false;
    unblock_here();
    return true;
  }();
  if (!possible) return false;
  judge_of = judge;
  guarded = pages;
  install();
  return true;
#else
  (void)pages, (void)judge;
  return false;
#endif
}

bool keep_program_action(int signal, const struct sigaction* action, struct sigaction* former) {
#if defined(__x86_64__)
  const int i = index_of(signal);
  if (i < 0 || !installed) return false;
  const std::lock_guard lock(programs_mutex);
  const struct sigaction before = programs[i];
  if (action != nullptr) programs[i] = *action;
  if (former != nullptr) *former = before;
  return true;
#else
  (void)signal, (void)action, (void)former;
  return false;
#endif
}

bool on_signal_stack() {
  stack_t stack{};
  return sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

}  // namespace lockstep::runtime
