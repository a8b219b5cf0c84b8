#include "simulator/runtime/state/runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <stdexcept>

#include "simulator/engine/launch/per_thread.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/contexts.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/output_signals.h"

namespace lockstep::runtime {
namespace {

// NVIDIA's runtime takes itself down when the process ends, at the place in the order of exit
// handlers that its first call gives it: destructors of objects that were made before that call
// come after it. (Seen on an H100 with CUDA 13.0; docs/journal/silicon.md.)
std::atomic<bool> unloaded = false;

void unload_at_exit(int /*status*/, void*) { unloaded = true; }

// Whether a call comes too late.
bool comes_after_unloading(const char* function) {
  [[maybe_unused]] static const bool registered = on_exit(unload_at_exit, nullptr) == 0;
  if (!unloaded) return false;
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) {
    Runtime::get().explain(function,
                           "the process ends, and the runtime is no longer there: this is called "
                           "by the destructor of an object that was made before the "
                           "program's first CUDA call, or by an exit handler registered before it");
  }
  return true;
}

}  // namespace

ThreadState& thread_state() { return engine::per_thread<ThreadState>(); }

void Runtime::explain(const char* function, const std::string& sentence, const std::string& about) {
  ThreadState& thread = thread_state();
  // What was put by another call is not the running one's.
  if (RunningCall* const call = thread.call; call != nullptr && thread.executing == nullptr) {
    if (call->called_as() != nullptr) function = call->called_as();
    call->result.reason = sentence;
    if (settings.api_errors) return;
  }
  if (findings.quiet()) return;
  const OutputSignalsHeldBack held_back;
  std::fprintf(stderr, "lockstep: %s: %s%s\n", function,
               (about.empty() ? about : about + ": ").c_str(), sentence.c_str());
}

bool is_changed(Runtime& runtime, const char* api_name, const char* change) {
  return runtime.interceptor != nullptr &&
         runtime.interceptor->is_changed(runtime, api_name, change);
}

void Runtime::note_allocated(const memory::Allocation& a, const char* function,
                             const void* caller) {
  leaks.allocated(a, function, caller);
  memory_history.allocated(a, function, *memory);
}

void Runtime::note_freed(memory::Address address, const char* function) {
  leaks.freed(address);
  memory_history.freed(address, function);
}

void Runtime::report(std::vector<check::Finding> made) {
  if (interceptor != nullptr) interceptor->found(made, settings.suppressions);
  for (check::Finding& f : made) {
    if (f.by_host() && f.caller != nullptr) {
      // What is found later, such as an access of the host, is not of the running call.
      const CallStack stack = stack_of_caller();
      if (stack.caller() == f.caller) f.host_stacks.push_back(host_stack("called", stack));
    }
    for (check::HostStack& stack : memory_history.of(f.access.address, *memory)) {
      // The stack says where a leak was allocated.
      if (f.kind == check::Kind::kLeak && f.by_host() && count_lines(stack) != 0) f.detail.clear();
      f.host_stacks.push_back(std::move(stack));
    }
  }
  const auto wanted = std::stable_partition(made.begin(), made.end(), [&](const check::Finding& f) {
    return !settings.suppressions.cover(f);
  });
  std::vector<check::Finding> quiet(std::make_move_iterator(wanted),
                                    std::make_move_iterator(made.end()));
  made.erase(wanted, made.end());
  record.found(findings.add(std::move(quiet), true));
  record.found(findings.add(std::move(made)));
}

std::uint64_t Runtime::report_failure(check::Finding finding) {
  const bool suppressed = settings.suppressions.cover(finding);
  std::optional<Reported> first;
  const std::uint64_t number = findings.add_failure(std::move(finding), suppressed, &first);
  if (first) record.found({std::move(*first)});
  return number;
}

void Runtime::report_leaks(const Device& device) {
  if ((settings.checks & check::kLeaks) != 0 && device.error == cudaSuccess)
    report(leaks.find(*memory, device.ordinal));
}

void Runtime::report_leaks() {
  for (const Device& device : devices) report_leaks(device);
}

bool is_unloading() { return unloaded; }

namespace {

void start_driver(Runtime& runtime, bool by_driver_api) {
  if (!by_driver_api && runtime.start_error == cudaSuccess)
    runtime.driver_started.store(true, std::memory_order_relaxed);
}

}  // namespace

void start_driver() { start_driver(Runtime::get(), called_by_driver_api()); }

cudaError_t begin_call(const char* function, Reach reach) {
  Runtime& runtime = Runtime::get();
  const bool by_driver_api = called_by_driver_api();
  start_driver(runtime, by_driver_api);
  if (runtime.start_error != cudaSuccess) return runtime.start_error;
  const ThreadState& thread = thread_state();
  if (thread.call_error != cudaSuccess && thread.call->is_outermost()) return thread.call_error;
  if (thread.in_callback && reach == Reach::kDevice) {
    runtime.explain(function, "called from a callback, where CUDA calls are not permitted");
    return cudaErrorNotPermitted;
  }
  if (reach == Reach::kContext && !by_driver_api) contexts().bind(thread.device);
  if (reach != Reach::kDevice) return cudaSuccess;
  if (!by_driver_api && comes_after_unloading(function)) return cudaErrorCudartUnloading;
  runtime.used.store(true, std::memory_order_relaxed);
  // The driver API asks for a context before it comes here.
  if (!by_driver_api) contexts().bind(thread.device);
  return runtime.current().error;
}

cudaError_t end_call(cudaError_t error, const char* function) {
  RunningCall call;
  return end_call(call, error, function);
}

cudaError_t end_call(RunningCall& call, cudaError_t error, const char* function) {
  ThreadState& thread = thread_state();
  call.result.error = error;
  // "Not ready" is an answer, not an error.
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    thread.last_error = error;
    if (call.is_outermost())
      Runtime::get().operations.note(
          {LOCKSTEP_FAILED_CALL, thread.device, 0, error, nullptr, function});
  }
  if (call.is_outermost() && Runtime::get().settings.api_errors)
    call_ended(Runtime::get(), {function, error_name(error), error_text(error)}, call);
  return error;
}

cudaError_t report_exception(const char* function) {
  Runtime& runtime = Runtime::get();
  try {
    throw;
  } catch (const std::bad_alloc&) {
    runtime.explain(function, "the host has no memory left");
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& e) {
    runtime.explain(function, std::string("internal error of the simulated GPU: ") + e.what());
  } catch (...) {
    runtime.explain(function, "internal error of the simulated GPU");
  }
  return cudaErrorUnknown;
}

void announce_call() {
  ThreadState& thread = thread_state();
  if (thread.before_calls == nullptr || thread.announcing || thread.call != nullptr) return;
  thread.announcing = true;
  const CallStack launched_from = std::exchange(thread.launched_from, {});
  thread.before_calls(thread.before_calls_data);
  thread.launched_from = launched_from;
  thread.announcing = false;
}

cudaError_t api(const char* function, Reach reach, FunctionRef<cudaError_t(Runtime&, Device&)> body,
                CallResult* ended) {
  Runtime& runtime = Runtime::get();
  announce_call();
  std::unique_lock lock(runtime.lock);
  RunningCall call;
  cudaError_t error = begin_call(function, reach);
  if (error == cudaSuccess) {
    try {
      error = body(runtime, runtime.current());
    } catch (...) {
      error = report_exception(function);
    }
  }
  runtime.host_watch.settle(runtime);
  end_call(call, error, function);
  if (ended != nullptr) *ended = call.result;
  return error;
}

}  // namespace lockstep::runtime
