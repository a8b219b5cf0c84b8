#include "simulator/runtime/state/host_access.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {
namespace {

std::atomic<const memory::DeviceMemory*> watched{nullptr};
std::atomic<void (*)(const check::Finding&)> handler{nullptr};
struct sigaction former;

// Bit 1 of the page fault's error code is set for a write.
bool was_write(void* context) {
#if defined(__x86_64__)
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return false;
#endif
}

void say(const std::string& text) {
  const char* from = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t done = write(STDERR_FILENO, from, left);
    if (done <= 0) return;
    from += done;
    left -= static_cast<std::size_t>(done);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const memory::DeviceMemory* memory = watched.load();
  const auto address = reinterpret_cast<memory::Address>(info->si_addr);
  // si_code > 0: a real fault, not a kill(). Text is made on the heap: the faulting instruction is
  // the program's own, not malloc's, since the heap does not lie in the window.
  if (info->si_code > 0 && memory != nullptr && memory->in_window(address)) {
    const check::Finding finding = describe_host_access(*memory, address, was_write(context));
    say(finding.to_string() + "\n");
    if (const auto handle = handler.load()) handle(finding);
  }
  if ((former.sa_flags & SA_SIGINFO) != 0 && former.sa_sigaction != nullptr) {
    former.sa_sigaction(signal, info, context);
  } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
    former.sa_handler(signal);
  } else {
    // Back to the default: the instruction faults again and the process dies of it, as on hardware.
    sigaction(SIGSEGV, &former, nullptr);
    if (info->si_code <= 0) raise(SIGSEGV);
  }
}

}  // namespace

check::Finding describe_host_access(const memory::DeviceMemory& memory, memory::Address address,
                                    bool is_write) {
  check::Finding finding;
  finding.kind = check::Kind::kHostAccess;
  finding.access.address = address;
  finding.access.is_write = is_write;
  finding.where = describe_place(memory, address);
  const memory::Allocation* a = memory.find(address);
  finding.detail = a != nullptr && a->freed ? "host code used memory after it was freed"
                                            : "host code cannot reach device memory; copy with "
                                              "cudaMemcpy, or allocate with cudaMallocManaged";
  return finding;
}

void watch_host_access(const memory::DeviceMemory* memory, void (*also)(const check::Finding&)) {
  handler = also;
  if (watched.exchange(memory) != nullptr) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &former);
}

}  // namespace lockstep::runtime
