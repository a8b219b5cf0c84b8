#include "simulator/runtime/work/executor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/engine/launch/helper_threads.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/output_signals.h"
#include "simulator/runtime/state/shared_event.h"
#include "simulator/runtime/state/thread_count.h"
#include "simulator/runtime/work/attendant.h"
#include "simulator/runtime/work/closed.h"
#include "simulator/runtime/work/memory_operations.h"
#include "simulator/runtime/work/slices.h"
#include "simulator/runtime/work/transcript.h"

namespace lockstep::runtime {
namespace {

// How long a wait lasts that only another thread of the host can end.
constexpr auto kPatience = std::chrono::seconds(10);

// The device lock is given up while it lives.
class Unlocked {
 public:
  explicit Unlocked(DeviceLock& lock) : lock_(lock), depth_(lock.give_up()) {}
  ~Unlocked() { lock_.take_back(depth_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  DeviceLock& lock_;
  int depth_;
};

// The host is in a call that waits, while it lives.
class Waiting {
 public:
  explicit Waiting(Runtime& runtime) : runtime_(runtime) { ++runtime_.waiting; }
  ~Waiting() { --runtime_.waiting; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Runtime& runtime_;
};

// What happens while it lives was called by the program where the operation was put.
class Executing {
 public:
  explicit Executing(const Pending& p)
      : before_(std::exchange(thread_state().executing, p.late ? &p : nullptr)) {}
  ~Executing() { thread_state().executing = before_; }
  Executing(const Executing&) = delete;
  Executing& operator=(const Executing&) = delete;

 private:
  const PutBy* before_;
};

// The pages of registered memory are open to the engine while it lives.
class PagesOpen {
 public:
  explicit PagesOpen(GuardedPages& pages) : pages_(pages), counts_(pages.begin_execution()) {}
  ~PagesOpen() {
    if (counts_) pages_.end_execution();
  }
  PagesOpen(const PagesOpen&) = delete;
  PagesOpen& operator=(const PagesOpen&) = delete;

 private:
  GuardedPages& pages_;
  bool counts_;
};

bool is_host_function(const Pending& p) {
  return p.callback || std::holds_alternative<HostWork>(p.work);
}

// Other host threads may learn of the call, and so of all that came before.
void run_host_function(Runtime& runtime, Pending& p, cudaError_t error) {
  if (!p.callback && error != cudaSuccess) return;  // CUDA does not call them then
  runtime.has_waited();
  runtime.order.host_waits_for(p.at.before);
  runtime.host_watch.settle(runtime);
  {
    const Unlocked unlocked(runtime.lock);
    run_callback([&] {
      thread_state().function = &p.at;
      if (p.callback) {
        p.callback(error);
      } else {
        const auto& host = std::get<HostWork>(p.work);
        host.function(host.data);
      }
    });
    if (Wait* const wait = thread_state().wait) wait->recount();
  }
  // It may have waited for something that the host has done meanwhile.
  runtime.queue.learn_after(p.at, runtime.order.host());
}

void end(Runtime& runtime, Pending& p, cudaError_t error) {
  p.result = error;
  p.running = false;
  runtime.queue.remove(p);
}

void executed(Runtime& runtime, Device& device, Pending& p, cudaError_t error) {
  if (p.kernel && p.kernel->has_waited()) everything_is_known(runtime, p.at);
  if (error != cudaSuccess && !p.awaited && device.error == cudaSuccess) device.error = error;
  end(runtime, p, error);
  if (device.error != cudaSuccess) drop_pending(runtime, device);
}

cudaError_t perform(Runtime& runtime, Device& device, Pending& p, Turn turn, bool* done) {
  if (p.expand) {
    runtime.dependent_launches.forget();
    runtime.repeats.wrote();
    return p.expand(runtime, p);
  }
  if (const auto* kernel = std::get_if<KernelWork>(&p.work))
    return run_kernel(runtime, device, *kernel, p, turn, done);
  if (const auto* values = std::get_if<MemoryOperationsWork>(&p.work))
    return run_operations(runtime, p.api_name, *values, p.at, &p.next_value, done);
  if (p.moment) *p.moment = std::chrono::steady_clock::now();
  return perform(runtime, p.api_name, p.work, p.at);
}

// An operation that has begun, and waits for memory to change.
bool waits_for_memory(const Pending& p) {
  return p.kernel != nullptr ||
         (p.tried_at != 0 && std::holds_alternative<MemoryOperationsWork>(p.work));
}

// Executes an operation that is ready. False: it waits for memory to change, or was interrupted.
bool execute(Runtime& runtime, Pending& p, Turn turn) {
  Device& device = runtime.devices[static_cast<std::size_t>(p.device)];
  p.running = true;
  cudaError_t error = cudaSuccess;
  bool done = true;
  if (is_host_function(p)) {
    run_host_function(runtime, p, device.error);
  } else if (device.error != cudaSuccess) {
    error = device.error;
  } else {
    const Executing executing(p);
    const PagesOpen open(runtime.host_watch.pages);
    if (transcript().is_on() && !waits_for_memory(p)) transcript().add(runtime, device, p);
    const auto since = std::chrono::steady_clock::now();
    const std::uint64_t repetitions = runtime.repeats.count();
    try {
      error = perform(runtime, device, p, turn, &done);
    } catch (...) {
      error = report_exception(p.api_name);
    }
    if (runtime.repeats.count() == repetitions)
      runtime.queue_limit.executed(std::chrono::steady_clock::now() - since);
  }
  if (!done) {
    p.running = false;
    if (p.interrupted) {
      runtime.queue.interrupted(p);
    } else {
      runtime.queue.waits(p);
    }
    return false;
  }
  executed(runtime, device, p, error);
  return true;
}

bool execute(Runtime& runtime, const std::shared_ptr<Entry>& entry, Turn turn) {
  return execute(runtime, static_cast<Pending&>(*entry), turn);
}

// Executes all that can be executed now. A kernel that is interrupted has one slice.
void run_what_can(Runtime& runtime, Queue::Choice choice, Turn turn = Turn::kPut) {
  while (const auto entry = runtime.queue.next(choice)) execute(runtime, entry, turn);
}

// Executes all that can be executed without the host.
void run_to_the_end(Runtime& runtime, Queue::Choice choice) {
  do {
    runtime.queue.begin_round();
    run_what_can(runtime, choice, Turn::kWait);
  } while (any_is_interrupted(runtime));
}

std::mt19937_64* random_of(Runtime& runtime) {
  return runtime.settings.schedule == 0 ? nullptr : &runtime.random;
}

// Some operations are executed now, some later: which, the seed says.
void run_some(Runtime& runtime) {
  constexpr std::uint64_t kKinds = 4;
  std::uint64_t count = 0;
  switch (runtime.random() % kKinds) {
    case 0: count = ~std::uint64_t{0}; break;  // as early as possible
    case 1: count = 1 + runtime.random() % 4; break;
    default: return;  // as late as possible
  }
  const Queue::Choice choice{nullptr, true, &runtime.random};
  for (; count > 0; --count) {
    const auto entry = runtime.queue.next(choice);
    if (!entry) return;
    execute(runtime, entry, Turn::kPut);
  }
}

std::string describe_wait(const Runtime& runtime, const Pending& p) {
  if (p.kernel) {
    const check::Finding f = p.kernel->running().why_still();
    return "kernel " + f.kernel + p.at.stream.in() + " at " + f.access.site.to_string() + ", " +
           f.where;
  }
  const auto& values = std::get<MemoryOperationsWork>(p.work);
  return std::string(p.api_name) + p.at.stream.in() + " waits for " +
         words_of(*runtime.memory, values.operations[p.next_value]) +
         (p.caller == nullptr ? "" : ", " + describe_caller(p.caller));
}

// All that wait, but for one.
std::string waiting(const Runtime& runtime, const Pending* but = nullptr) {
  std::string all;
  for (const auto& entry : runtime.queue.entries()) {
    const auto& p = static_cast<const Pending&>(*entry);
    if (&p != but && waits_for_memory(p))
      all += (all.empty() ? "" : "; ") + describe_wait(runtime, p);
  }
  return all;
}

// What is reported of those that wait: a kernel, if there is one, and rather one that the host
// waits for.
std::shared_ptr<Entry> victim(const Runtime& runtime, const Clock& what) {
  const auto rank = [&](const Entry& e) {
    return 2 * (static_cast<const Pending&>(e).kernel != nullptr) +
           what.covers(e.at.lane, e.at.sequence);
  };
  std::shared_ptr<Entry> best;
  for (const auto& entry : runtime.queue.entries()) {
    if (waits_for_memory(static_cast<const Pending&>(*entry)) &&
        (!best || rank(*entry) > rank(*best)))
      best = entry;
  }
  return best;
}

// Nothing can go on, and the host waits for it.
void report_deadlock(Runtime& runtime, const Clock& what) {
  const auto entry = victim(runtime, what);
  if (!entry) return;
  auto& p = static_cast<Pending&>(*entry);
  Device& device = runtime.devices[static_cast<std::size_t>(p.device)];
  const void* const from = caller();
  if (p.kernel) {
    const std::string others = waiting(runtime, &p), place = describe_caller(from);
    p.kernel->running().fail((others.empty() ? "" : "So does " + others + ". ") +
                                 "The host waits for it" + (place.empty() ? "" : " in " + place) +
                                 ".",
                             /*host_waits=*/true);
    executed(runtime, device, p, p.kernel->finish(runtime, device, p.at));
    return;
  }
  check::Finding f;
  f.kind = check::Kind::kDeadlock;
  f.call = p.api_name;
  f.where = "the host waits, and nothing that it waits for can go on: " + waiting(runtime);
  f.caller = from;
  f.access.operation = describe_caller(from);
  f.detail = "No other thread of the host could write the value.";
  runtime.report({std::move(f)});
  if (device.error == cudaSuccess)
    device.error = static_cast<cudaError_t>(check::cuda_error(check::Kind::kDeadlock));
  drop_pending(runtime, device);
}

// The process ends, and nobody calls its functions any more.
void report_what_is_left(const Runtime& runtime) {
  std::vector<const Entry*> functions;
  std::size_t left = 0;
  for (const auto& entry : runtime.queue.entries()) {
    const bool behind = std::any_of(functions.begin(), functions.end(), [&](const Entry* f) {
      return entry->at.before.covers(f->at.lane, f->at.sequence);
    });
    if (entry->for_host) functions.push_back(entry.get());
    left += entry->for_host || behind;
  }
  if (left == 0 || runtime.findings.quiet()) return;
  const OutputSignalsHeldBack held_back;
  std::fprintf(
      stderr,
      "lockstep: the program ended without a wait for %zu host function%s: %zu operation%s "
      "not executed\n",
      functions.size(), functions.size() == 1 ? "" : "s", left, left == 1 ? " was" : "s were");
}

// Whether the host may write what is waited for while this thread waits.
bool host_may_help(const Runtime& runtime) {
  const bool others = thread_count() - engine::helper_threads() > 1;
  for (const auto& entry : runtime.queue.entries()) {
    const auto& p = static_cast<const Pending&>(*entry);
    if (p.kernel ? p.kernel->running().host_may_help() : others && waits_for_memory(p)) return true;
  }
  return false;
}

// Whether another thread executes something.
bool others_execute(const Runtime& runtime) {
  for (const auto& entry : runtime.queue.entries()) {
    if (entry->running) return true;
  }
  return false;
}

void wait_a_moment(Runtime& runtime) {
  const Unlocked unlocked(runtime.lock);
  std::this_thread::sleep_for(std::chrono::microseconds(100));
}

// Other threads that want the device lock get it.
void give_way(Runtime& runtime) {
  constexpr int kMost = 10;  // a thread that has ended in a forked parent wants it for ever
  for (int i = 0; i < kMost && runtime.lock.is_wanted(); ++i) wait_a_moment(runtime);
}

}  // namespace

bool executes_at_once(const Runtime& runtime) {
  return runtime.settings.streams_at_once || runtime.settings.launch_blocking ||
         (runtime.interceptor != nullptr && !runtime.interceptor->executes_late());
}

bool execute_one(Runtime& runtime) {
  bool went_on = false;
  while (const auto entry = runtime.queue.next({})) {
    if (execute(runtime, entry, Turn::kLook)) return true;
    went_on |= static_cast<const Pending&>(*entry).interrupted;
  }
  return went_on;
}

void after_put(Runtime& runtime) {
  runtime.queue.called();
  const auto& last = static_cast<const Pending&>(*runtime.queue.entries().back());
  if (executes_at_once(runtime)) {
    run_what_can(runtime, {});
  } else if (runtime.settings.schedule != 0) {
    run_some(runtime);
  } else if (last.moment && runtime.queue.size() == 1) {
    run_what_can(runtime, {nullptr, true, nullptr});  // its time is now
  }
  if (runtime.queue.size() >= runtime.queue_limit.most())
    run_what_can(runtime, {nullptr, true, random_of(runtime)});
  if (!runtime.queue.empty()) attendant().attend(runtime);
}

void run_until(Runtime& runtime, const Clock& what) {
  if (runtime.queue.empty() || thread_state().in_callback) return;
  const Waiting waiting(runtime);
  runtime.queue.called();
  std::chrono::steady_clock::time_point since{};  // when nothing could go on
  while (runtime.queue.has(what)) {
    std::mt19937_64* const random = random_of(runtime);
    std::shared_ptr<Entry> entry;
    if (random != nullptr && runtime.random() % 2 == 0)
      entry = runtime.queue.next({nullptr, false, random});
    if (!entry) entry = runtime.queue.next({&what, false, random});
    // What it waits for may come from something else.
    if (!entry) entry = runtime.queue.next({nullptr, false, random});
    if (entry) {
      const bool executed = execute(runtime, entry, Turn::kWait);
      if (executed || static_cast<const Pending&>(*entry).interrupted) since = {};
      if (!executed) give_way(runtime);
      continue;
    }
    if (any_is_interrupted(runtime)) {
      runtime.queue.begin_round();
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    if (since == std::chrono::steady_clock::time_point{}) since = now;
    if (!others_execute(runtime) && (!host_may_help(runtime) || now - since >= kPatience)) {
      const std::size_t before = runtime.queue.size();
      report_deadlock(runtime, what);
      if (runtime.queue.size() == before) return;
      continue;
    }
    wait_a_moment(runtime);
    runtime.queue.changed();
  }
}

void run_all(Runtime& runtime) {
  if (runtime.queue.empty() || thread_state().in_callback) return;
  runtime.queue.called();
  run_to_the_end(runtime, {nullptr, true, random_of(runtime)});
}

bool ask(Runtime& runtime, const Clock& what) {
  if (!runtime.queue.has(what)) return true;
  if (thread_state().in_callback) return false;
  runtime.queue.called();
  while (true) {
    auto entry = runtime.queue.next({&what, false, random_of(runtime)});
    if (!entry) entry = runtime.queue.next({nullptr, false, random_of(runtime)});
    if (!entry || execute(runtime, entry, Turn::kLook)) return false;
  }
}

void wait_for(Runtime& runtime, const Clock& what) {
  Wait wait(what);
  run_until(runtime, what);
  runtime.has_waited();
  runtime.order.host_waits_for(what);
}

void wait_for_all(Runtime& runtime) { wait_for(runtime, runtime.order.all()); }

void wait_for_others(Runtime& runtime, const SharedEvent& event) {
  while (!event.is_executed()) {
    runtime.queue.called();
    run_what_can(runtime, {nullptr, true, random_of(runtime)});  // it may wait for this process
    wait_a_moment(runtime);
  }
}

void execute_at_exit(Runtime& runtime) {
  if (runtime.start_error != cudaSuccess || thread_state().in_callback) return;
  run_to_the_end(runtime, {nullptr, true, random_of(runtime)});
  report_what_is_left(runtime);
  // Nobody will write what kernels wait for. Where the host could have, the program may have meant
  // to leave them.
  if (!runtime.host_sees_memory) report_deadlock(runtime, {});
  for (const Device& device : runtime.devices) drop_pending(runtime, device);
}

void remove_code(Runtime& runtime, FatBinary* binary) {
  if (is_unloading()) {
    execute_at_exit(runtime);
  } else {
    run_until(runtime, runtime.order.all());  // it orders nothing, as an H100 shows
  }
  runtime.modules.remove(runtime, binary);
}

void drop_pending(Runtime& runtime, const Device& device) {
  std::vector<std::shared_ptr<Entry>> dropped;
  for (const auto& entry : runtime.queue.entries()) {
    if (entry->device == device.ordinal && !entry->running) dropped.push_back(entry);
  }
  for (const auto& entry : dropped) {
    auto& p = static_cast<Pending&>(*entry);
    if (p.callback) continue;  // the program may wait for it: it is called with the error
    if (const auto* memory = std::get_if<FreeWork>(&p.work); memory != nullptr && !memory->memory)
      release_memory(runtime, memory->pointer);
    end(runtime, p, device.error);
  }
}

}  // namespace lockstep::runtime
