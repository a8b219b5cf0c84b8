#include "simulator/runtime/work/attendant.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

#include "simulator/engine/launch/helper_threads.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/work/executor.h"

namespace lockstep::runtime {
namespace {

using std::chrono::milliseconds;

// Longer than a program computes between two calls, as a rule; then short.
constexpr milliseconds kFirst(20), kNext(1);
// Many mutants run beside one another, and what is executed must not depend on that.
constexpr milliseconds kFirstOfMutant(1000);

bool can_notice(const Runtime& runtime) {
  return runtime.host_sees_memory || runtime.queue.has_host_functions();
}

}  // namespace

Attendant& attendant() {
  static auto* const one = new Attendant;
  return *one;
}

void Attendant::attend(Runtime& runtime) {
  const Interceptor* const interceptor = runtime.interceptor.get();
  if (attends_ || (interceptor != nullptr && !interceptor->executes_late()) || !can_notice(runtime))
    return;
  // Signals are the program's threads' affair, but for those of its own instructions
  // (host/faults.h).
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGTRAP);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  engine::helper_threads().fetch_add(1);
  try {
    std::thread([this, &runtime] { run(runtime); }).detach();
    attends_ = true;
  } catch (const std::system_error&) {
    engine::helper_threads().fetch_sub(1);  // then a program that looks waits for ever
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Attendant::run(Runtime& runtime) {
  std::uint64_t seen = 0;
  const milliseconds first = runtime.interceptor != nullptr ? kFirstOfMutant : kFirst;
  for (milliseconds pause = first;;) {
    std::this_thread::sleep_for(pause);
    // It does not wait: that would interrupt a kernel (slices.h).
    const std::unique_lock lock(runtime.lock, std::try_to_lock);
    if (!lock) continue;  // a call runs
    if (runtime.queue.empty()) {
      attends_ = false;
      engine::helper_threads().fetch_sub(1);
      return;
    }
    act(runtime, seen);
    pause = has_acted_ ? kNext : first;
  }
}

void Attendant::act(Runtime& runtime, std::uint64_t& seen) {
  const bool idle = seen == runtime.queue.calls() && runtime.waiting == 0;
  seen = runtime.queue.calls();
  if (!idle) return;
  runtime.queue.begin_round();
  busy_ = true;
  ++runtime.gives_way;
  engine::helper_threads().fetch_sub(1);  // while it stands for the GPU
  has_acted_ |= execute_one(runtime);
  runtime.host_watch.settle(runtime);
  engine::helper_threads().fetch_add(1);
  --runtime.gives_way;
  busy_ = false;
}

}  // namespace lockstep::runtime
