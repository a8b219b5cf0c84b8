// The device under test: its properties, and the functions that only a simulated one has.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simulator/extension.h"

namespace lockstep {

// Everything about the device that a result may depend on. Filled once, from the CUDA runtime API,
// for device 0.
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
      1;  // blocks of a cluster: 1 without clusters, 8 portable, 16 where a kernel may opt in to it
  int clock_khz = 0, memory_clock_khz = 0;  // the highest, 0 where the device does not say
  int memory_bus_bits = 0;
  std::uint64_t l2_bytes = 0;
  bool ecc = false;
  std::string pci;  // "0000:3b:00.0"
  bool cooperative_launch = false, managed_memory = false;
  bool simulated = false;

  // Name and value of each entry, for passports; keys are the members' names.
  std::map<std::string, std::string> entries() const;
};

// "" when a device answers; else the CUDA error's name and text.
std::string device_error();
// Requires that a device answers; throws std::runtime_error with device_error() otherwise.
const DeviceProperties& device_properties();

// Devices that this process sees.
int device_count();

// Waits for this thread's copies and fills of device memory. Returns a cudaError_t. cudaMemcpy from
// pageable memory may return before its data has arrived, as cudaMemset does ("API synchronization
// behavior", CUDA Runtime API). Work in a stream that does not wait for the default one could
// overtake it. On a GPU that several processes share, it does.
int wait_for_copies();

// The simulator's own functions (simulator/extension.h); each is null on silicon.
struct Extension {
  lockstepExtensionVersion_t version = nullptr;
  lockstepNameBuffer_t name_buffer = nullptr;
  lockstepMarkUnwritten_t mark_unwritten = nullptr;
  lockstepTakeFindings_t take_findings = nullptr;
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
// Whether the simulated GPU answers the CUDA runtime API of this process.
bool is_simulator();

// The operations that `run` requests of the simulated GPU, in the order of its calls. Empty on
// silicon, where the runtime records none. Not reentrant.
std::vector<lockstepOperation> operations_of(const std::function<void()>& run);

// What `run` sets for kernels (cudaFuncSetAttribute) where nothing is set for any. Afterwards what
// was set before holds again. Empty on silicon, where nothing is run. Not reentrant.
std::vector<lockstepLimit> limits_of(const std::function<void()>& run);

// On the simulated GPU, every device says meanwhile that it is another: all of its properties but
// those in `kept` (cudaDeviceAttr) have other values. Numbers are 1, or with `more` twice what they
// are and one more; what is 0 or 1 is the other of both.
class OtherProperties {
 public:
  OtherProperties(const std::vector<int>& kept, bool more);
  ~OtherProperties();
  OtherProperties(const OtherProperties&) = delete;
  OtherProperties& operator=(const OtherProperties&) = delete;
};

// The same of this property alone: it has this value.
class OtherProperty {
 public:
  OtherProperty(int which, int value);
  ~OtherProperty();
  OtherProperty(const OtherProperty&) = delete;
  OtherProperty& operator=(const OtherProperty&) = delete;
};

// On the simulated GPU, later launches run the first and the last blocks of their grids alone, so
// many together, until the end of the scope. On silicon all run.
class SampledBlocks {
 public:
  explicit SampledBlocks(std::uint64_t blocks);
  ~SampledBlocks();
  SampledBlocks(const SampledBlocks&) = delete;
  SampledBlocks& operator=(const SampledBlocks&) = delete;
};

// Runs `run`, and `before` before each call of CUDA's that `run` makes in this thread, with the
// number of that call, from 0. On silicon `run` alone. Not reentrant.
void run_between_calls(const std::function<void(std::size_t)>& before,
                       const std::function<void()>& run);

// How often this process has used SampledBlocks or run_between_calls. A case that uses one reads
// back other bytes on the simulated GPU than on silicon, so it has no digest.
std::uint64_t simulator_steers();

// The errors that the simulator reported since the last call, in order; empty on silicon. Findings
// that it calls information (legal, and worth a look) are not among them.
struct ReportedFinding {
  std::string kind;  // "race", "out-of-bounds", ...
  std::string text;  // for people
};
std::vector<ReportedFinding> take_findings();

}  // namespace lockstep
