// The state of the simulated CUDA runtime, and the frame in which every API function runs.
//
// One lock, the device lock, guards all of it: a kernel runs inside a call, and nothing else may
// change memory in the meantime. Callbacks of the program (cudaLaunchHostFunc) run without the
// lock.
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
#include "simulator/runtime/queue/queue_limit.h"
#include "simulator/runtime/repeats/repeats.h"
#include "simulator/runtime/state/dependent_launches.h"
#include "simulator/runtime/state/device_lock.h"
#include "simulator/runtime/state/environment.h"
#include "simulator/runtime/state/findings.h"
#include "simulator/runtime/state/function_ref.h"
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

namespace lockstep::engine {
class Running;
}

namespace lockstep::runtime {

struct Device {
  int ordinal = 0;
  // The first error of a kernel on this device. As on hardware, the launch itself has succeeded,
  // and every later call that reaches the device returns the error. cudaDeviceReset does not help:
  // the device is then unavailable to the process (cudaErrorDevicesUnavailable, as measured on an
  // H100 with CUDA 13.0).
  cudaError_t error = cudaSuccess;
  engine::Counters counters;
  std::uint64_t launches = 0;
  bool count_memory = false;  // since the first lockstepResetCounters
  std::map<cudaLimit, std::size_t> limits;
  unsigned flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
  cudaFuncCache cache_config = cudaFuncCachePreferNone;
  std::set<int> peers;                   // devices whose memory this one may access
  cudaMemPool_t current_pool = nullptr;  // nullptr: the default one
};

struct Context;

class Wait;

// The launch configuration that <<<>>> pushes.
struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  CallStack stack;  // the place of <<<>>>
};
// The call that has put an operation.
struct PutBy {
  // The calling place in the program; nullptr: the call still runs, or the place is not needed.
  const void* caller = nullptr;
};
struct ThreadState {
  int device = 0;
  std::vector<Context*> contexts;  // contexts.h; the last is current
  cudaError_t last_error = cudaSuccess;
  std::vector<CallConfiguration> pushed;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  bool per_thread_default_stream = false;  // stream 0 is the thread's own (per_thread_stream.h)
  bool in_callback = false;  // a callback of the program runs: CUDA calls are not permitted
  // The place in the order of the host function that the thread runs.
  const Operation* function = nullptr;
  Wait* wait = nullptr;  // the operations for which the thread waits (work/closed.h)

  RunningCall* call = nullptr;  // the innermost running call
  // The running operation, if the call that has put it has returned.
  const PutBy* executing = nullptr;
  CallStack launched_from;  // for the launch that <<<>>> makes next
  // Called before each API call that the program makes (simulator/extension.h).
  void (*before_calls)(void*) = nullptr;
  void* before_calls_data = nullptr;
  bool announcing = false;
  // If set, each call that the program makes returns this error and does nothing
  // (lockstepSetError).
  cudaError_t call_error = cudaSuccess;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      not_looked_at;  // findings by number, and how often, since the last error was last fetched
};
ThreadState& thread_state();

class Interceptor;

class Runtime {
 public:
  // Created at the first call and never destroyed, since programs call the runtime from static
  // destructors. Defined in process/start.cc, which installs the hooks of the layers above this
  // one.
  static Runtime& get();

  // Not cudaSuccess if the environment or the system does not allow a simulated GPU. Every call
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
  Repeats repeats;
  Order order;
  Queue queue{order};
  QueueLimit queue_limit;
  std::vector<engine::Running*> running;  // kernels that have started and not ended
  std::size_t waiting = 0;                // calls of the host that are waiting
  std::atomic<int> gives_way = 0;         // the thread that holds the lock gives it up soon
  bool host_sees_memory = false;          // pinned, managed or registered memory has been used
  std::mt19937_64 random;                 // for the order of operations; seeded by the schedule
  TouchedMemory touched;
  HostWatch host_watch;
  GraphMemory graph_memory;
  std::set<memory::Address> pool_memory;  // allocated in streams: cudaFree does not wait for these
  std::map<memory::Address, Operation>
      freeing;                            // freed in a stream that has not executed the free yet
  std::uint64_t sampled_blocks = 0;       // LaunchConfig::sample of later launches
  std::map<int, int> changed_properties;  // by attribute (lockstepSetProperty)
  bool limits_are_aside = false;          // lockstepSetLimitsAside
  std::vector<lockstepLimit> limits_set;  // since then
  std::size_t under_way = 0;              // operations since the last wait that may be unfinished
  std::atomic<bool> used{false};          // a call has reached a device
  std::atomic<bool> driver_started = false;  // cuInit, or a runtime API call that starts the driver
  std::unique_ptr<Interceptor> interceptor;  // for `lockstep mutate`
  bool forking_mutant = false;  // the process that is being forked continues to use the device
  std::uint64_t memory_capacity = 0;               // for each device
  std::map<memory::Address, unsigned> host_flags;  // for pinned and registered memory, by base

  bool device_exists(int ordinal) const {
    return ordinal >= 0 && ordinal < static_cast<int>(devices.size());
  }
  Device& current() { return devices[static_cast<std::size_t>(thread_state().device)]; }

  // Prints a sentence on stderr: "lockstep: cudaMemcpy: ...", or "lockstep: cudaLaunchKernel:
  // about: ...". Call when the error code of a failed call does not show the reason. If failed
  // calls are findings, the sentence becomes part of the finding.
  void explain(const char* function, const std::string& sentence, const std::string& about = {});
  // Reports findings. Suppressed ones are only recorded; the others are also printed and kept.
  void report(std::vector<check::Finding> made);
  // Reports a failed call or refused device code. Returns its number in `findings`.
  std::uint64_t report_failure(check::Finding finding);
  // Call when the program's running call, `function` of the API, has allocated memory or frees it.
  void note_allocated(const memory::Allocation& a, const char* function, const void* caller);
  void note_freed(memory::Address address, const char* function);
  // Report memory of the device, or of all devices, that is still allocated, if leaks are checked.
  void report_leaks(const Device& device);
  void report_leaks();
  // The host, or a stream, has waited for something (work/executor.h has the functions that wait).
  void has_waited() {
    dependent_launches.end_chain();
    under_way = 0;
  }

 private:
  Runtime();
};

// Whether a call creates the device's context, if the thread has none, and whether it returns a
// kernel's error.
enum class Reach {
  kHost,     // a query about the host or the device's properties: neither
  kContext,  // creates the context only
  kDevice,   // reaches the device: creates the context and returns its error
};

// Whether the process is ending: host code has been left, and the runtime has been shut down.
bool is_unloading();

// Starts the driver, as cuInit does, unless the driver API itself makes the call. On an H100 every
// runtime API call does this, even one that fails, except cudaRuntimeGetVersion and
// cudaCreateChannelDesc.
void start_driver();

// Frame of an API function: runs the body under the lock. Errors of start-up, callbacks and kernels
// are returned before it; the thread's last error is set after it. `body` takes (Runtime&,
// Device&).
cudaError_t begin_call(const char* function, Reach reach);
cudaError_t end_call(RunningCall& call, cudaError_t error, const char* function);
// As above, for a call that fails before it starts.
cudaError_t end_call(cudaError_t error, const char* function = __builtin_FUNCTION());
cudaError_t report_exception(const char* function);
// What cudaGetErrorName and cudaGetErrorString return.
const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

// Calls the test's function before a call of the program (simulator/extension.h). It is not called
// for calls that the API makes itself, nor for the test's own calls.
void announce_call();

// `ended`: unless nullptr, gets the result of the call.
cudaError_t api(const char* function, Reach reach, FunctionRef<cudaError_t(Runtime&, Device&)> body,
                CallResult* ended = nullptr);

}  // namespace lockstep::runtime
