// The device under test: its properties, and the functions of the simulated GPU's extension.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simulator/extension.h"

namespace lockstep {

// All properties of device 0 that a result may depend on. Read once from the CUDA runtime API.
struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::string uuid;          // "GPU-xxxxxxxx-xxxx-...", lower case
  int driver_version = 0;    // 13000: 13.0
  int runtime_version = 0;
  std::uint64_t global_bytes = 0;
  std::uint64_t shared_bytes_per_block = 0, shared_bytes_per_block_optin = 0,
                shared_bytes_per_sm = 0, constant_bytes = 0;
  int sms = 0, warp_size = 0;
  int max_threads_per_block = 0, max_threads_per_sm = 0, registers_per_block = 0;
  int max_cluster_blocks =
      1;  // blocks of a cluster: 1 without clusters, 8 portable, 16 if a kernel may opt in
  int clock_khz = 0, memory_clock_khz = 0;  // the highest rates; 0: unknown
  int memory_bus_bits = 0;
  std::uint64_t l2_bytes = 0;
  bool ecc = false;
  std::string pci;  // "0000:3b:00.0"
  bool cooperative_launch = false, managed_memory = false;
  bool simulated = false;

  // Name and value of each entry, for passports. The keys are the members' names.
  std::map<std::string, std::string> entries() const;
};

// "" if a device responds; otherwise the CUDA error's name and text.
std::string device_error();
// Throws std::runtime_error with device_error() if no device responds.
const DeviceProperties& device_properties();

// The number of devices that this process sees.
int device_count();

// Waits for this thread's copies to and fills of device memory. Returns a cudaError_t. cudaMemset,
// and cudaMemcpy from pageable memory, may return before the data has arrived ("API synchronization
// behavior", CUDA Runtime API). Work in a stream that does not synchronise with the default stream
// could then read old data; on a GPU that several processes share, this happens.
int wait_for_copies();

// The functions of the simulator's extension (simulator/extension.h); null on silicon.
struct Extension {
  lockstepExtensionVersion_t version = nullptr;
  lockstepNameBuffer_t name_buffer = nullptr;
  lockstepMarkUnwritten_t mark_unwritten = nullptr;
  lockstepTakeErrors_t take_errors = nullptr;
  lockstepClearError_t clear_error = nullptr;
  lockstepResetCounters_t reset_counters = nullptr;
  lockstepReadCounters_t read_counters = nullptr;
  lockstepSetSchedule_t set_schedule = nullptr;
  lockstepSetChecks_t set_checks = nullptr;
  lockstepSetQuiet_t set_quiet = nullptr;
  lockstepBeginPart_t begin_part = nullptr;
  lockstepWatchOperations_t watch_operations = nullptr;
  lockstepReadOperations_t read_operations = nullptr;
  lockstepBeforeCalls_t before_calls = nullptr;
  lockstepUnderWay_t under_way = nullptr;
  lockstepSampleBlocks_t sample_blocks = nullptr;
  lockstepSetError_t set_error = nullptr;
  lockstepLiveObjects_t live_objects = nullptr;
  lockstepReadLimits_t read_limits = nullptr;
  lockstepSetLimitsAside_t set_limits_aside = nullptr;
  lockstepSetProperty_t set_property = nullptr;
};
const Extension& extension();
// Whether the CUDA runtime of this process is the simulated GPU.
bool is_simulator();

// Calls `run`, and returns the operations that it requests of the simulated GPU, in order. On
// silicon it returns none. Not reentrant.
std::vector<lockstepOperation> operations_of(const std::function<void()>& run);

// Calls `run` with no function attributes set, and returns those that `run` sets
// (cudaFuncSetAttribute). Afterwards restores the former attributes. On silicon it does not call
// `run` and returns none. Not reentrant.
std::vector<lockstepLimit> limits_of(const std::function<void()>& run);

// On the simulated GPU, gives all device properties except those in `kept` (cudaDeviceAttr) other
// values for its lifetime. A value of 0 becomes 1, and 1 becomes 0. Any other value v becomes 1 or,
// with `more`, 2 * v + 1 (v - 1 from 2^29 on).
class OtherProperties {
 public:
  OtherProperties(const std::vector<int>& kept, bool more);
  ~OtherProperties();
  OtherProperties(const OtherProperties&) = delete;
  OtherProperties& operator=(const OtherProperties&) = delete;
};

// The same for one property, with a given value.
class OtherProperty {
 public:
  OtherProperty(int which, int value);
  ~OtherProperty();
  OtherProperty(const OtherProperty&) = delete;
  OtherProperty& operator=(const OtherProperty&) = delete;
};

// On the simulated GPU, later launches execute only the first and the last blocks of their grids,
// `blocks` in all, until the end of the scope. On silicon all blocks execute.
class SampledBlocks {
 public:
  explicit SampledBlocks(std::uint64_t blocks);
  ~SampledBlocks();
  SampledBlocks(const SampledBlocks&) = delete;
  SampledBlocks& operator=(const SampledBlocks&) = delete;
};

// Calls `run`. Before each CUDA call that `run` makes on this thread, calls `before` with the
// number of that call, from 0. On silicon it only calls `run`. Not reentrant.
void run_between_calls(const std::function<void(std::size_t)>& before,
                       const std::function<void()>& run);

// How often this process has changed what the simulated GPU does: SampledBlocks, run_between_calls,
// limits_of, OtherProperties or OtherProperty. A case that does so may read back other bytes than
// on silicon, so it has no digest.
std::uint64_t simulator_steers();

// The errors that the simulator has reported since the last call, in order; empty on silicon.
// Findings of severity "information" (legal, but worth a look) are not included.
struct ReportedFinding {
  std::string kind;  // "race", "out-of-bounds", ...
  std::string text;  // for display
};
std::vector<ReportedFinding> take_findings();

}  // namespace lockstep
