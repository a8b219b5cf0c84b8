// How the runtime begins and ends: it is made at the first call, with what watches the process, and
// looks for leaks when the process exits.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>
#include <variant>

#include "simulator/runtime/mutation/make_interceptor.h"
#include "simulator/runtime/state/host_access.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/attendant.h"
#include "simulator/runtime/work/executor.h"

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
  if (attendant().is_busy()) {
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

void record_profile_at_exit(int /*status*/, void*) {
  if (the_runtime != nullptr && the_runtime->settings.time_profile)
    the_runtime->record.profiled(the_runtime->time_profile.instructions());
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
     on_exit(record_profile_at_exit, nullptr), on_exit(report_leaks_at_exit, nullptr), true);

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

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() : findings(finding_log()), record(record_file()) {
  the_runtime = this;
  auto read =
      read_settings([](const char* name) { return std::getenv(name); }, names_in_environment());
  if (const auto* error = std::get_if<std::string>(&read)) {
    std::fprintf(stderr, "lockstep: %s\n", error->c_str());
    start_error = cudaErrorInitializationError;
    did_not_start = true;
    return;
  }
  settings = std::get<Settings>(read);
  repeats = Repeats(settings.repeats);
  limits = settings.profile->limits();
  random.seed(settings.schedule);
  findings.set_quiet(settings.quiet);
  findings.set_colours(settings.colours);
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

}  // namespace lockstep::runtime
