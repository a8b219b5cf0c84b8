#include "simulator/runtime/queue/executor.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/engine/launch/helper_threads.h"
#include "simulator/runtime/mutation/survey.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/memory_operations.h"

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
  const Pending* before_;
};

bool is_host_function(const Pending& p) {
  return p.callback || std::holds_alternative<HostWork>(p.work);
}

// Other host threads may learn of the call, and so of all that came before.
void run_host_function(Runtime& runtime, Pending& p, cudaError_t error) {
  if (!p.callback && error != cudaSuccess) return;  // CUDA does not call them then
  runtime.has_waited();
  runtime.order.host_waits_for(p.at.before);
  const Unlocked unlocked(runtime.lock);
  run_callback([&] {
    if (p.callback) {
      p.callback(error);
    } else {
      const auto& host = std::get<HostWork>(p.work);
      host.function(host.data);
    }
  });
}

void end(Runtime& runtime, Pending& p, cudaError_t error) {
  p.result = error;
  p.running = false;
  runtime.queue.remove(p);
}

// Executes an operation that is ready. False: it waits for a value that is not there.
bool execute(Runtime& runtime, Pending& p) {
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
    try {
      if (const auto* values = std::get_if<MemoryOperationsWork>(&p.work)) {
        error = run_operations(runtime, p.api_name, *values, p.at, &p.next_value, &done);
      } else {
        error = perform(runtime, device, p);
      }
    } catch (...) {
      error = report_exception(p.api_name);
    }
  }
  if (!done) {
    p.running = false;
    runtime.queue.waits(p);
    return false;
  }
  const bool failed_before = device.error != cudaSuccess;
  if (error != cudaSuccess && !p.awaited && !failed_before) device.error = error;
  end(runtime, p, error);
  if (device.error != cudaSuccess) drop_pending(runtime, device);
  return true;
}

bool execute(Runtime& runtime, const std::shared_ptr<Entry>& entry) {
  return execute(runtime, static_cast<Pending&>(*entry));
}

// Executes all that can be executed now.
void run_what_can(Runtime& runtime, Queue::Choice choice) {
  while (const auto entry = runtime.queue.next(choice)) execute(runtime, entry);
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
    execute(runtime, entry);
  }
}

// The operations that wait, each in a line.
std::string waiting(const Runtime& runtime) {
  std::string all;
  for (const auto& entry : runtime.queue.entries()) {
    const auto& p = static_cast<const Pending&>(*entry);
    if (!p.tried_at) continue;
    const auto* values = std::get_if<MemoryOperationsWork>(&p.work);
    if (values == nullptr) continue;
    all += (all.empty() ? "" : "; ") + std::string(p.api_name) + p.at.stream.in() + " waits for " +
           words_of(*runtime.memory, values->operations[p.next_value]);
    if (p.caller != nullptr) all += ", " + describe_caller(p.caller);
  }
  return all;
}

// Nothing can go on, and the host waits for it.
void report_deadlock(Runtime& runtime, const Clock& what) {
  const Pending* first = nullptr;
  for (const auto& entry : runtime.queue.entries()) {
    const auto& p = static_cast<const Pending&>(*entry);
    if (std::holds_alternative<MemoryOperationsWork>(p.work) && p.tried_at != 0 &&
        (first == nullptr || (what.covers(p.at.lane, p.at.sequence) &&
                              !what.covers(first->at.lane, first->at.sequence))))
      first = &p;
  }
  if (first == nullptr) return;
  check::Finding f;
  f.kind = check::Kind::kDeadlock;
  f.call = first->api_name;
  f.where = "the host waits, and nothing that it waits for can go on: " + waiting(runtime);
  const void* const from = caller();
  f.caller = from;
  f.access.operation = describe_caller(from);
  f.detail = "No other thread of the host could write the value.";
  const int ordinal = first->device;
  runtime.report({std::move(f)});
  Device& device = runtime.devices[static_cast<std::size_t>(ordinal)];
  if (device.error == cudaSuccess)
    device.error = static_cast<cudaError_t>(check::cuda_error(check::Kind::kDeadlock));
  drop_pending(runtime, device);
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

}  // namespace

bool executes_at_once(const Runtime& runtime) {
  return runtime.settings.streams_at_once || runtime.settings.launch_blocking ||
         runtime.interceptor != nullptr;
}

bool execute_one(Runtime& runtime) {
  const auto entry = runtime.queue.next({});
  return entry && execute(runtime, entry);
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
  if (runtime.queue.size() >= kMostPending)
    run_what_can(runtime, {nullptr, true, random_of(runtime)});
  if (!runtime.queue.empty()) runtime.attendant.attend(runtime);
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
      if (execute(runtime, entry)) since = {};
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    if (since == std::chrono::steady_clock::time_point{}) since = now;
    if (!others_execute(runtime) &&
        (thread_count() - engine::helper_threads() == 1 || now - since >= kPatience))
      return report_deadlock(runtime, what);
    wait_a_moment(runtime);
    runtime.queue.changed();
  }
}

void run_all(Runtime& runtime) { run_until(runtime, runtime.order.all()); }

bool ask(Runtime& runtime, const Clock& what) {
  if (!runtime.queue.has(what)) return true;
  if (thread_state().in_callback) return false;
  runtime.queue.called();
  auto entry = runtime.queue.next({&what, false, random_of(runtime)});
  if (!entry) entry = runtime.queue.next({nullptr, false, random_of(runtime)});
  if (entry) execute(runtime, entry);
  return false;
}

void wait_for(Runtime& runtime, const Clock& what) {
  run_until(runtime, what);
  runtime.has_waited();
  runtime.order.host_waits_for(what);
}

void wait_for_all(Runtime& runtime) { wait_for(runtime, runtime.order.all()); }

void execute_at_exit(Runtime& runtime) {
  if (runtime.start_error != cudaSuccess || thread_state().in_callback) return;
  runtime.queue.changed();
  run_what_can(runtime, {nullptr, true, random_of(runtime)});
}

void drop_pending(Runtime& runtime, const Device& device) {
  std::vector<std::shared_ptr<Entry>> dropped;
  for (const auto& entry : runtime.queue.entries()) {
    if (entry->device == device.ordinal && !entry->running) dropped.push_back(entry);
  }
  for (const auto& entry : dropped) {
    auto& p = static_cast<Pending&>(*entry);
    if (p.callback) continue;  // the program may wait for it: it is called with the error
    if (const auto* memory = std::get_if<FreeWork>(&p.work); memory != nullptr && memory->releases)
      release_memory(runtime, memory->pointer);
    end(runtime, p, device.error);
  }
}

}  // namespace lockstep::runtime
