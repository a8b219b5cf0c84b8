// The state of the simulated CUDA runtime, and the frame every API function runs in.
//
// One lock, the device lock, guards all of it: a kernel runs inside a call, so nothing else may
// change memory meanwhile. Callbacks of the program (cudaLaunchHostFunc) are run without it.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/launch/time_profile.h"
#include "simulator/memory/device_memory.h"
#include "simulator/memory/image.h"
#include "simulator/runtime/order/order.h"
#include "simulator/runtime/order/touched_memory.h"
#include "simulator/runtime/queue/queue.h"
#include "simulator/runtime/state/dependent_launches.h"
#include "simulator/runtime/state/device_lock.h"
#include "simulator/runtime/state/environment.h"
#include "simulator/runtime/state/findings.h"
#include "simulator/runtime/state/graph_memory.h"
#include "simulator/runtime/state/host_reads.h"
#include "simulator/runtime/state/host_watch.h"
#include "simulator/runtime/state/leaks.h"
#include "simulator/runtime/state/memory_history.h"
#include "simulator/runtime/state/modules.h"
#include "simulator/runtime/state/operations.h"
#include "simulator/runtime/state/record.h"
#include "simulator/runtime/state/running_call.h"
#include "simulator/runtime/state/streams.h"

namespace lockstep::runtime {

struct Device {
  int ordinal = 0;
  // The first error of a kernel on this device. As on hardware the launch itself has succeeded;
  // every later call that reaches the device returns it. cudaDeviceReset does not help: the device
  // is then unavailable to the process (cudaErrorDevicesUnavailable, as measured on an H100 with
  // CUDA 13.0).
  cudaError_t error = cudaSuccess;
  engine::Counters counters;
  std::uint64_t launches = 0;
  bool count_memory = false;  // since the first lockstepResetCounters
  std::map<cudaLimit, std::size_t> limits;
  unsigned flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
  cudaFuncCache cache_config = cudaFuncCachePreferNone;
  std::set<int> peers;                   // devices whose memory this one may reach
  cudaMemPool_t current_pool = nullptr;  // nullptr: the default one
};

struct Context;

// What a thread has: its device, the last error and the launch configurations pushed by <<<>>>.
struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  CallStack stack;  // where the program says <<<>>>
};
// Who has put an operation.
struct PutBy {
  // Where the program called it; nullptr: the call still runs, or nobody will ask.
  const void* caller = nullptr;
};
struct ThreadState {
  int device = 0;
  std::vector<Context*> contexts;  // contexts.h; the last is current
  cudaError_t last_error = cudaSuccess;
  std::vector<CallConfiguration> pushed;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  bool per_thread_default_stream = false;  // the stream 0 is the thread's own (per_thread_stream.h)
  bool in_callback = false;  // the program's callback runs: CUDA calls are not permitted
  // The place in the order of operations of the host function that the thread runs.
  const Operation* function = nullptr;

  RunningCall* call = nullptr;  // the innermost that runs
  // The operation that runs, where the call that has put it has returned.
  const PutBy* executing = nullptr;
  CallStack launched_from;  // of the launch that <<<>>> makes next
  // Called before each call of the API that the program makes (simulator/extension.h).
  void (*before_calls)(void*) = nullptr;
  void* before_calls_data = nullptr;
  bool announcing = false;
  // What each call that the program makes returns instead of doing anything (lockstepSetError).
  cudaError_t call_error = cudaSuccess;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      not_looked_at;  // findings by number, and how often, since the last error was last fetched
};
ThreadState& thread_state();

class Interceptor;

class Runtime {
 public:
  // Made at the first call and never destroyed: programs call the runtime from static destructors.
  // (process/start.cc: it installs what the layers above this one watch.)
  static Runtime& get();

  // Not cudaSuccess when the environment or the system does not allow a simulated GPU; every call
  // then returns this.
  cudaError_t start_error = cudaSuccess;
  Settings settings;
  engine::Limits limits;
  DeviceLock lock;
  std::unique_ptr<memory::DeviceMemory> memory;
  memory::Images images;  // texture and surface objects
  std::vector<Device> devices;
  Modules modules;
  Streams streams;
  std::vector<std::shared_ptr<Capture>> captures;  // under way
  FindingLog& findings;
  engine::TimeProfile time_profile;  // settings.time_profile
  Record& record;
  HostReads host_reads;
  Leaks leaks;
  MemoryHistory memory_history;
  Operations operations;
  DependentLaunches dependent_launches;
  Order order;
  Queue queue{order};
  std::size_t waiting = 0;        // calls of the host that wait now
  bool host_sees_memory = false;  // there has been pinned, managed or registered memory
  std::mt19937_64 random;         // of the order of operations, by the seed of the schedule
  TouchedMemory touched;
  HostWatch host_watch;
  GraphMemory graph_memory;
  std::set<memory::Address> pool_memory;  // allocated in streams: cudaFree does not wait then
  std::map<memory::Address, Operation> freeing;  // freed in a stream that has not come to it
  std::uint64_t sampled_blocks = 0;              // LaunchConfig::sample of later launches
  std::map<int, int> changed_properties;         // by attribute (lockstepSetProperty)
  bool limits_are_aside = false;                 // lockstepSetLimitsAside
  std::vector<lockstepLimit> limits_set;         // since then
  std::size_t under_way = 0;      // operations since the last wait that need not be done
  std::atomic<bool> used{false};  // a call has reached a device
  std::atomic<bool> driver_started =
      false;  // cuInit, or a call of the runtime API that starts the driver
  std::unique_ptr<Interceptor> interceptor;  // of `lockstep mutate`
  bool forking_mutant = false;        // the process that is forked now goes on with the device
  std::uint64_t memory_capacity = 0;  // of each device
  std::map<memory::Address, unsigned> host_flags;  // of pinned and registered memory, by base

  bool device_exists(int ordinal) const {
    return ordinal >= 0 && ordinal < static_cast<int>(devices.size());
  }
  Device& current() { return devices[static_cast<std::size_t>(thread_state().device)]; }

  // A sentence on stderr: "lockstep: cudaMemcpy: ...", or "lockstep: cudaLaunchKernel: about: ...".
  // Called when the error code of a failed call does not show the reason. Where failed calls are
  // findings, the sentence becomes part of the finding.
  void explain(const char* function, const std::string& sentence, const std::string& about = {});
  // Reports findings: suppressed ones go to the record alone, the others are also printed and
  // kept.
  void report(std::vector<check::Finding> made);
  // The same for a failed call or refused device code; its number in `findings`.
  std::uint64_t report_failure(check::Finding finding);
  // The running call of the program, `function` of the API, has allocated or frees memory.
  void note_allocated(const memory::Allocation& a, const char* function, const void* caller);
  void note_freed(memory::Address address, const char* function);
  // Reports memory of the device, or of all devices, that is still allocated, if leaks are checked.
  void report_leaks(const Device& device);
  void report_leaks();
  // The host, or a stream, has waited for something (work/executor.h has what waits).
  void has_waited() {
    dependent_launches.end_chain();
    under_way = 0;
  }

 private:
  Runtime();
};

// Whether a call makes the device's context, if the thread has none, and whether it returns a
// kernel's error.
enum class Reach {
  kHost,     // answers about the host or the device's properties: neither
  kContext,  // makes the context alone
  kDevice,   // reaches the device: makes the context and delivers its error
};

// Whether the process ends: host code is left, and the runtime has been taken down.
bool is_unloading();

// Starts the driver, as cuInit does, unless the driver API itself is asking. On an H100 every call
// of the runtime API does this, one that fails too; only cudaRuntimeGetVersion and
// cudaCreateChannelDesc do not.
void start_driver();

// Runs the body of an API function: under the lock, with the errors of starting up, callbacks and
// kernels before it, and the thread's last error after it. `body` takes (Runtime&, Device&).
cudaError_t begin_call(const char* function, Reach reach);
cudaError_t end_call(RunningCall& call, cudaError_t error, const char* function);
// The same of a call that fails before it begins.
cudaError_t end_call(cudaError_t error, const char* function = __builtin_FUNCTION());
cudaError_t report_exception(const char* function);
// What cudaGetErrorName and cudaGetErrorString return.
const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

// Lets a test act before a call of the program (simulator/extension.h); not before those that the
// API makes of itself, nor before the test's own.
inline void announce_call() {
  ThreadState& thread = thread_state();
  if (thread.before_calls == nullptr || thread.announcing || thread.call != nullptr) return;
  thread.announcing = true;
  const CallStack launched_from = std::exchange(thread.launched_from, {});
  thread.before_calls(thread.before_calls_data);
  thread.launched_from = launched_from;
  thread.announcing = false;
}

// `ended`: takes how the call has ended, unless nullptr.
template <class Body>
cudaError_t api(const char* function, Reach reach, Body&& body, CallResult* ended = nullptr) {
  Runtime& runtime = Runtime::get();
  announce_call();
  std::unique_lock lock(runtime.lock);
  RunningCall call;
  cudaError_t error = begin_call(function, reach);
  if (error == cudaSuccess) {
    try {
      error = std::forward<Body>(body)(runtime, runtime.current());
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
