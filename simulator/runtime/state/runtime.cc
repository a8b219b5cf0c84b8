#include "simulator/runtime/state/runtime.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <stdexcept>
#include <variant>

#include "simulator/engine/launch/per_thread.h"
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/mutation/interceptor.h"
#include "simulator/runtime/queue/executor.h"
#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/contexts.h"
#include "simulator/runtime/state/host_access.h"
#include "simulator/runtime/state/output_signals.h"

namespace lockstep::runtime {
namespace {

// Outlives everything: the exit handler reads it. Made when first asked for, because nvcc's
// constructors may call before those of this file.
FindingLog& finding_log() {
  static auto* const log = new FindingLog;
  return *log;
}

Record& record_file() {
  static auto* const record = new Record;
  return *record;
}

Runtime* the_runtime = nullptr;  // once it has been made

void report_leaks_at_exit(int /*status*/, void*) {
  if (the_runtime == nullptr) return;
  std::unique_lock lock(the_runtime->lock, std::defer_lock);
  if (the_runtime->attendant.is_busy()) {
    lock.lock();
  } else {
    lock.try_lock();
  }
  // Another thread runs a kernel while the process ends: nothing is left to wait for it.
  if (!lock.owns_lock()) return;
  execute_at_exit(*the_runtime);
  the_runtime->report_leaks();
}

void record_coverage_at_exit(int /*status*/, void*) {
  if (the_runtime == nullptr || !the_runtime->settings.coverage) return;
  std::unique_lock lock(the_runtime->lock, std::try_to_lock);
  if (lock.owns_lock()) the_runtime->modules.record_coverage(*the_runtime);
}

void finish_record(int /*status*/, void* record) {
  static_cast<Record*>(record)->finish(finding_log().changed());
}

// A program that looks at no error would pass with nothing checked.
constexpr int kExitNotStarted = 2;
bool did_not_start = false;

void explain_no_start(int status, void*) {
  if (status != 0 || !did_not_start) return;
  std::fprintf(stderr,
               "lockstep: the simulated GPU did not start, so nothing was checked: the exit status "
               "is %d instead of 0\n",
               kExitNotStarted);
  std::fflush(nullptr);
  _exit(kExitNotStarted);
}

// When the library is loaded, so that the handlers run after the program's own (they run in reverse
// order): leaks are looked for first, the record is finished, and then the exit status is decided.
[[maybe_unused]] const bool watching =
    (on_exit(explain_no_start, nullptr), watch_losses(&record_file()), watch_exit(&finding_log()),
     on_exit(finish_record, &record_file()), on_exit(record_coverage_at_exit, nullptr),
     on_exit(report_leaks_at_exit, nullptr), true);

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

void record_host_access(const check::Finding& finding) {
  record_file().found({Reported{0, false, finding}});
}

// After a fork the child has no device if the parent has started the driver; it would share the
// parent's managed memory. NVIDIA's runtime says the same. What the parent found is the parent's to
// report.
void in_child() {
  Runtime& runtime = Runtime::get();
  if (runtime.forking_mutant) return;
  runtime.host_watch.pages.abandon();
  if (runtime.driver_started.load(std::memory_order_relaxed))
    runtime.start_error = cudaErrorInitializationError;
  runtime.findings.take();
  runtime.record.forget();
  runtime.leaks.clear();
  thread_state().not_looked_at.clear();
}

}  // namespace

ThreadState& thread_state() { return engine::per_thread<ThreadState>(); }

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() : findings(finding_log()), record(record_file()) {
  the_runtime = this;
  auto read = read_settings([](const char* name) { return std::getenv(name); });
  if (const auto* error = std::get_if<std::string>(&read)) {
    std::fprintf(stderr, "lockstep: %s\n", error->c_str());
    start_error = cudaErrorInitializationError;
    did_not_start = true;
    return;
  }
  settings = std::get<Settings>(read);
  limits = settings.profile->limits();
  random.seed(settings.schedule);
  findings.set_quiet(settings.quiet);
  if (settings.go_on) findings.count_repeats();
  try {
    memory = std::make_unique<memory::DeviceMemory>();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lockstep: %s\n", e.what());
    start_error = cudaErrorInitializationError;
    did_not_start = true;
    return;
  }
  memory_capacity = device_memory_bytes(settings, host_memory_bytes());
  devices.resize(static_cast<std::size_t>(settings.devices));
  for (int i = 0; i < settings.devices; ++i) {
    devices[static_cast<std::size_t>(i)].ordinal = i;
    devices[static_cast<std::size_t>(i)].count_memory = settings.count;
    memory->set_capacity(i, memory_capacity);
  }
  if (devices.empty()) start_error = cudaErrorNoDevice;
  watch_host_access(memory.get(), record_host_access);
  if (!settings.record.empty()) {
    if (record.open(settings.record)) {
      record.started(settings.profile->name, settings.schedule, names_of_checks(settings.checks));
    } else {
      start_error = cudaErrorInitializationError;
    }
  }
  pthread_atfork(nullptr, nullptr, in_child);
  if (!settings.mutation.empty()) {
    unsetenv("LOCKSTEP_MUTATION");  // processes that this one starts are their own
    auto made = make_interceptor(settings.mutation);
    if (const auto* error = std::get_if<std::string>(&made)) {
      std::fprintf(stderr, "lockstep: %s\n", error->c_str());
      start_error = cudaErrorInitializationError;
      did_not_start = true;
      return;
    }
    interceptor = std::get<std::unique_ptr<Interceptor>>(std::move(made));
  }
}

void Runtime::explain(const char* function, const std::string& sentence, const std::string& about) {
  ThreadState& thread = thread_state();
  // What was put by another call is not the running one's.
  if (thread.called_as != nullptr && thread.executing == nullptr) function = thread.called_as;
  thread.last_sentence = sentence;
  if (settings.api_errors && thread.depth > 0 && thread.executing == nullptr) {
    thread.explained = sentence;
    return;
  }
  if (findings.quiet()) return;
  const OutputSignalsHeldBack held_back;
  std::fprintf(stderr, "lockstep: %s: %s%s\n", function,
               (about.empty() ? about : about + ": ").c_str(), sentence.c_str());
}

void Runtime::report(std::vector<check::Finding> made) {
  if (interceptor != nullptr) interceptor->found(made);
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

void Runtime::reset_device(Device& device) {
  wait_for_all(*this);
  report_leaks(device);
  modules.unload(*this, device.ordinal);
  for (const memory::Allocation* a : memory->live()) {
    if (a->device == device.ordinal && !modules.is_managed_variable(*a)) memory->release(a->base);
  }
  for (Stream* stream : streams.of_device(device.ordinal)) abandon(*this, *stream);
  streams.destroy_all(device.ordinal);
  arrays().destroy_all(device.ordinal);
  contexts().reset(device.ordinal);
  Device fresh;
  fresh.ordinal = device.ordinal;
  fresh.count_memory = settings.count;
  fresh.error = device.error == cudaSuccess ? cudaSuccess : cudaErrorDevicesUnavailable;
  device = std::move(fresh);
}

bool is_unloading() { return unloaded; }

void start_driver() {
  Runtime& runtime = Runtime::get();
  if (thread_state().called_as == nullptr && runtime.start_error == cudaSuccess)
    runtime.driver_started.store(true, std::memory_order_relaxed);
}

cudaError_t begin_call(const char* function, Reach reach) {
  Runtime& runtime = Runtime::get();
  start_driver();
  if (runtime.start_error != cudaSuccess) return runtime.start_error;
  if (thread_state().in_callback && reach == Reach::kDevice) {
    runtime.explain(function, "called from a callback, where CUDA calls are not permitted");
    return cudaErrorNotPermitted;
  }
  if (reach == Reach::kContext && thread_state().called_as == nullptr)
    contexts().bind(thread_state().device);
  if (reach != Reach::kDevice) return cudaSuccess;
  if (thread_state().called_as == nullptr && comes_after_unloading(function))
    return cudaErrorCudartUnloading;
  runtime.used = true;
  // The driver API asks for a context before it comes here.
  if (thread_state().called_as == nullptr) contexts().bind(thread_state().device);
  return runtime.current().error;
}

cudaError_t end_call(cudaError_t error, const char* function) {
  ThreadState& thread = thread_state();
  // "Not ready" is an answer, not an error.
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    thread.last_error = error;
    if (thread.depth == 0)
      Runtime::get().operations.note(
          {LOCKSTEP_FAILED_CALL, thread.device, 0, error, nullptr, function});
  }
  if (thread.depth == 0 && Runtime::get().settings.api_errors) {
    call_ended(Runtime::get(), {function, error, error_name(error), error_text(error)});
  }
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

}  // namespace lockstep::runtime
