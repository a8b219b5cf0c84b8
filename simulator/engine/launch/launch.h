// The engine's interface for the runtime: load a module, launch a kernel, get the outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simulator/check/descent.h"
#include "simulator/check/finding.h"
#include "simulator/engine/launch/history.h"
#include "simulator/memory/device_memory.h"
#include "simulator/program/load.h"

namespace lockstep::check {
struct Knowledge;
}
namespace lockstep::memory {
class Images;
}

namespace lockstep::engine {

using check::Dim3;
class Coverage;            // launch/coverage.h
class TimeProfile;         // launch/time_profile.h
struct LaunchCertificate;  // launch/certificate.h

// Counters over all blocks of a launch. They count PTX, which ptxas may merge or vectorise further.
struct Counters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t global_load_requests = 0, global_load_sectors = 0,
                global_load_lines = 0;  // 32-byte sectors, 128-byte lines
  std::uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_lines = 0;
  std::uint64_t shared_load_requests = 0,
                shared_load_bank_conflicts = 0;  // conflicts: extra passes over the banks
  std::uint64_t shared_store_requests = 0, shared_store_bank_conflicts = 0;
  std::uint64_t shuffles = 0, votes = 0, atomics = 0, barriers = 0;
  void add(const Counters& other);
};

// Limits of the device; the runtime fills them in from its device profile.
struct Limits {
  int compute_capability = 90;  // 10 * major + minor
  std::uint32_t max_threads_per_block = 1024;
  Dim3 max_block{1024, 1024, 64};
  Dim3 max_grid{2147483647u, 65535, 65535};
  std::uint32_t shared_per_block = 48 * 1024;  // without opting in
  std::uint32_t shared_per_block_optin = 227 * 1024;
  std::uint32_t registers_per_block = 65536;
  std::uint32_t multiprocessors = 132;
};

// One kernel of a loaded module. Lives as long as its module.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual const std::string& name() const = 0;  // as in the PTX (mangled)
  virtual std::span<const std::uint32_t> parameter_offsets()
      const = 0;  // one more than there are parameters; last: total bytes
  virtual std::span<const std::uint32_t> parameter_sizes() const = 0;
  virtual std::uint32_t static_shared_bytes() const = 0;
  virtual std::uint32_t local_bytes() const = 0;     // per thread
  virtual std::uint32_t constant_bytes() const = 0;  // of its module
  virtual int registers()
      const = 0;  // live at most, per thread, 32-bit; an estimate, PTX is not SASS
  virtual std::uint32_t max_threads_per_block() const = 0;  // from .maxntid / .reqntid, else 1024
  virtual Dim3 required_cluster() const = 0;                // {0,0,0} when none
  virtual int ptx_target() const = 0;                       // 90
  // Whether the kernel has a strong access to global memory (PTX ISA 8.2), so that it may wait for
  // a value there. Also true if it calls functions.
  virtual bool may_poll() const = 0;
  // Why the kernel cannot be launched: it, or a function that it may call, has an instruction that
  // the simulated GPU does not support. nullptr: it can be launched.
  virtual const program::LoadError* refusal() const = 0;
};

class Module {
 public:
  virtual ~Module() = default;
  virtual const Kernel* find_kernel(std::string_view name) const = 0;
  // A .global or .const variable in the device's memory; nullptr if there is none of that name.
  virtual const memory::Allocation* find_variable(std::string_view name) const = 0;
  virtual std::vector<const Kernel*> kernels() const = 0;
  // The error of each function that cannot run, in the order of the texts.
  virtual std::vector<program::LoadError> refusals() const = 0;
  // Sets upper limits of each kernel's registers per thread and threads per block; 0 leaves a limit
  // unchanged. No launch may be under way.
  virtual void limit(int registers, std::uint32_t threads) = 0;
};

using program::LoadError;
using program::ManagedVariables;
using program::RegisterPlaces;

// Parses, links and compiles PTX texts, and places their variables in `memory` for `device`.
// Several texts are relocatable device code. A function with an unsupported instruction makes the
// kernels that may call it refuse to launch (Kernel::refusal). An error is returned if the module
// as a whole is wrong.
//
// `managed`: empty at the first load of the texts, which then creates these variables. Later loads,
// on any device, use them as they are. nullptr: the module has managed variables of its own.
std::variant<std::unique_ptr<Module>, LoadError> load_module(
    std::span<const std::string_view> ptx, memory::DeviceMemory& memory, int device,
    ManagedVariables* managed = nullptr, RegisterPlaces places = RegisterPlaces::kShared);

// The error of the whole module or, without one, of its first function that cannot run. nullopt if
// there is none.
std::optional<LoadError> first_refusal(
    const std::variant<std::unique_ptr<Module>, LoadError>& loaded);

// Bits of LaunchConfig::ran.
inline constexpr std::uint8_t kReached = 1, kExecuted = 2;

// An earlier launch in the same stream that may still run while this one does (griddepcontrol, PTX
// ISA 9.7.13.13). Its records in the search for races are [first_record, end_of_records).
struct RunningGrid {
  std::string kernel;  // demangled
  std::uint32_t first_record = 0, end_of_records = 0;
  bool until_wait = true;  // griddepcontrol.wait also waits for this grid
};

// A launch that a thread of the grid has made and that has not been executed yet (CUDA C++
// Programming Guide, "CUDA Dynamic Parallelism").
struct DeviceLaunch {
  std::string kernel;  // mangled
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  std::vector<std::byte> parameters;  // packed at parameter_offsets()
  std::uint64_t by_block = 0;         // linear index of the block that made it
  std::shared_ptr<check::Descent> descent;
  std::shared_ptr<const check::Knowledge> known;  // what its thread knew; nullptr: not needed
  std::uint64_t known_times = 0;
};

struct LaunchConfig {
  Dim3 grid, block, cluster{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  int compute_capability = 90;            // 10 * major + minor; selects the matrix units
  std::span<const std::byte> parameters;  // packed at parameter_offsets()
  std::uint32_t checks = check::kAllChecks;
  // Proofs before the launch (simulator/proof). kOff: none. kOn: what is proved is not checked.
  // kCompare: it is checked nevertheless, and compared with what the threads do (monitor/proved.h).
  enum class Proof : std::uint8_t { kOff, kOn, kCompare };
  Proof proof = Proof::kOff;
  // Whether warps run machine code generated from the kernel (simulator/translate).
  // Launches with `ran`, `coverage`, `time_profile` or Proof::kCompare run without translation.
  enum class Translate : std::uint8_t {
    kOff,
    kOn,      // once the kernel has executed enough to repay its translation, if that pays at all
    kAlways,  // from the first launch on
    kCompare  // from the first launch on; each translated run of operations is compared with the
              // interpreter, and a difference ends the process
  };
  Translate translate = Translate::kOff;
  // Called before the first block starts. If set, the launch is analysed whatever `proof` is.
  std::function<void(const LaunchCertificate&)> certified;
  std::uint32_t suppressed = 0;  // bit k: findings of check::Kind k do not end the kernel if it can
                                 // continue (check/suppressions.h)
  bool go_on = false;            // no finding ends the kernel if it can continue
  std::uint32_t race_records =
      0;  // records that the search for races may keep (check/global_races.h); 0: as many as it can
  std::uint64_t schedule_seed =
      0;  // 0: the deterministic order; otherwise permutes blocks, warps and lane groups
  // The number of blocks that run (of clusters, if any): from both ends of the grid. The others
  // count as done. 0: all. Ignored for a cooperative launch, which always runs all.
  std::uint64_t sample = 0;
  int host_threads = 0;  // 0: as many as the machine has; 1 if the order must be exact
  // How long to wait for the host before a stalled launch that polls host-visible memory (managed,
  // pinned or registered) is reported. Another host thread may still write there. Another process
  // may write to registered memory.
  std::chrono::milliseconds host_patience{10'000};
  std::uint64_t instruction_limit =
      0;               // warp instructions that a block may execute before kTimeLimit; 0: no limit
  bool count = false;  // fill Outcome::counters' memory counters (instructions are always counted)
  std::vector<std::uint8_t>* ran =
      nullptr;  // one element for each of Program::ops: kReached if some lane has reached it,
                // kExecuted if its guard was true
  Coverage* coverage = nullptr;         // of the kernel's module: counts what its threads execute
  TimeProfile* time_profile = nullptr;  // collects the time of host threads
  std::span<const RunningGrid> running_grids;  // empty: every earlier launch has ended
  // The place of the launch among the operations of the program. By default it is ordered after all
  // before it and before all after it.
  OperationPlace place;
  // Whether every other operation, put or still to come, is ordered before the launch or after it.
  // Called before the first block starts. Empty: there may be unordered operations.
  std::function<bool()> closed;
  // What the thread that launched this grid passes to it. nullptr: nothing.
  std::shared_ptr<const check::Knowledge> given;
  std::uint64_t given_times = 0;  // check::Given::times of `given`
  // Whether the device can launch a grid that a thread requests; its parameters are not yet known.
  // Called by one host thread at a time. Empty: it always can.
  std::function<bool(const DeviceLaunch&)> launchable;
  // Earlier copies, fills, allocations and frees that are unordered with this launch.
  std::span<const ConcurrentAccess> concurrent;
  // Whether `concurrent` has all writes of the host to this address of host-visible memory, and
  // Running::also_concurrent() will get the later ones. Empty: it has none of them. Called by
  // several threads.
  std::function<bool(memory::Address)> sees_host_writes;
  const memory::Images* images = nullptr;        // texture and surface objects; nullptr: none
  std::function<void(std::string_view)> output;  // device printf; default: stdout
  std::function<void(std::string_view)>
      notice;  // receives a sentence when the kernel has been running for one minute, two, four ...
};

// A store of an uninitialised value to [begin, begin + bytes) of global memory. It is no mistake
// yet, but a later read of it is.
struct UnwrittenStore {
  memory::Address begin = 0;
  std::uint64_t bytes = 0;
  check::Finding by;  // the finding for such a read, as far as the store can fill it in
};

// Memory that a kernel has allocated with malloc() and may have freed since. Recorded if
// check::kLeaks is among the launch's checks.
struct HeapAllocation {
  memory::Address address = 0;
  check::Finding by;  // the finding for the leak, as far as the kernel can fill it in
};

struct Outcome {
  std::vector<check::Finding>
      findings;  // at most one for each place (check::same_place); the first ends the launch unless
                 // it is information or was survived
  Counters counters;
  std::vector<UnwrittenStore>
      unwritten_stores;  // by address; of each instruction the first kMaxUnwrittenStores ranges
  static constexpr std::size_t kMaxUnwrittenStores = 1024;
  std::vector<HeapAllocation> heap;
  // Ordered by block, and within a block as they were made. If an event orders launches of two
  // blocks, all are in the order in which they were made.
  std::vector<DeviceLaunch> launches;
  // For dependent grids. [first_record, end_of_records): this grid's records. started_dependents:
  // it allowed them to start before its end. waited: some block waited for the grids before.
  // waited_before_start: it did so before it allowed dependents to start.
  std::uint32_t first_record = 0, end_of_records = 0;
  bool started_dependents = false, waited = false, waited_before_start = false;
  // A thread has written, by a strong write or after a fence, to memory that the host sees. The
  // host may thereby have learnt what the kernel did.
  bool informed_host = false;
  // A thread has read, by a strong read, memory that the host sees, since the launch last
  // continued. It may thereby have learnt what the host had waited for by then.
  bool heard_host = false;
  bool failed() const {
    for (const auto& f : findings)
      if (f.severity == check::Severity::kError && !f.survived) return true;
    return false;
  }
};

// Runs the whole grid and returns its outcome. The caller must have checked the configuration
// against the device's limits. Throws std::invalid_argument if the kernel is refused.
Outcome launch(const Kernel& kernel, const LaunchConfig& config, memory::DeviceMemory& memory);

}  // namespace lockstep::engine
