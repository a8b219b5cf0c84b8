// The engine as the runtime sees it: load a module, launch a kernel, get an outcome.
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

// Counted over all blocks of a launch. They count PTX, which ptxas may merge or vectorise further.
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

// Limits that a launch is held to; the runtime fills it from its device profile.
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
  // Why it cannot be launched: it, or a function that it may call, has an instruction that the
  // simulated GPU does not know. nullptr: it can.
  virtual const program::LoadError* refusal() const = 0;
};

class Module {
 public:
  virtual ~Module() = default;
  virtual const Kernel* find_kernel(std::string_view name) const = 0;
  // A .global or .const variable placed in the device's memory; nullptr when there is none of that
  // name.
  virtual const memory::Allocation* find_variable(std::string_view name) const = 0;
  virtual std::vector<const Kernel*> kernels() const = 0;
  // What of each function that cannot run is wrong in it, in the order of the texts.
  virtual std::vector<program::LoadError> refusals() const = 0;
  // Says of each kernel at most so many registers a thread and threads a block; 0: as many as
  // before. No launch may be under way.
  virtual void limit(int registers, std::uint32_t threads) = 0;
};

using program::LoadError;
using program::ManagedVariables;
using program::RegisterPlaces;

// Parses, links (when several texts are given: relocatable device code) and compiles, and places
// the variables in `memory` for `device`. A function with an instruction that the simulated GPU
// does not know refuses the kernels that may call it (Kernel::refusal); an error is what is wrong
// with the whole. `managed`: empty when the texts are first loaded, which then makes these
// variables; a later load, on whatever device, takes them as they are. Without it they are the
// module's own.
std::variant<std::unique_ptr<Module>, LoadError> load_module(
    std::span<const std::string_view> ptx, memory::DeviceMemory& memory, int device,
    ManagedVariables* managed = nullptr, RegisterPlaces places = RegisterPlaces::kShared);

// What is wrong with loaded code, of the whole or else of its first function that cannot run;
// nullopt: nothing.
std::optional<LoadError> first_refusal(
    const std::variant<std::unique_ptr<Module>, LoadError>& loaded);

// Bits of LaunchConfig::ran.
inline constexpr std::uint8_t kReached = 1, kExecuted = 2;

// A launch before this one in its stream that may still run while this one does (griddepcontrol,
// PTX ISA 9.7.13.13), by the numbers of its records in the search for races.
struct RunningGrid {
  std::string kernel;  // demangled
  std::uint32_t first_record = 0, end_of_records = 0;
  bool until_wait = true;  // griddepcontrol.wait waits for it too
};

// A launch that a thread of the grid has made (CUDA C++ Programming Guide, "CUDA Dynamic
// Parallelism"). It has not been executed.
struct DeviceLaunch {
  std::string kernel;  // mangled
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  std::vector<std::byte> parameters;  // packed at parameter_offsets()
  std::uint64_t by_block = 0;         // linear index of the block that made it
  std::shared_ptr<check::Descent> descent;
  std::shared_ptr<const check::Knowledge> known;  // what its thread knew; nullptr: not asked for
  std::uint64_t known_times = 0;
};

struct LaunchConfig {
  Dim3 grid, block, cluster{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  int compute_capability = 90;            // 10 * major + minor: whose matrix units compute
  std::span<const std::byte> parameters;  // packed at parameter_offsets()
  std::uint32_t checks = check::kAllChecks;
  // What is proved before the launch (simulator/proof): nothing; that which then is not checked;
  // that which is checked all the same, and held against what the threads do (monitor/proved.h).
  enum class Proof : std::uint8_t { kOff, kOn, kCompare };
  Proof proof = Proof::kOff;
  // Whether warps run machine code made of the kernel (simulator/translate).
  // Launches with `ran`, `coverage`, `time_profile` or Proof::kCompare run without it.
  enum class Translate : std::uint8_t {
    kOff,
    kOn,      // once the kernel has executed so much that its translation pays, and if it does
    kAlways,  // from the first launch on
    kCompare  // the same; each run of operations is held against the interpreter, and a difference
              // ends the process
  };
  Translate translate = Translate::kOff;
  // Called before the first block begins: whatever `proof` is, the launch is looked at.
  std::function<void(const LaunchCertificate&)> certified;
  std::uint32_t suppressed = 0;  // bit k: findings of check::Kind k do not end the kernel where it
                                 // can go on (check/suppressions.h)
  bool go_on = false;            // no finding ends the kernel where it can go on
  std::uint32_t race_records =
      0;  // what the search for races may keep (check/global_races.h); 0: as much as it can
  std::uint64_t schedule_seed =
      0;  // 0: the deterministic order; else permutes blocks, warps and lane groups
  // Blocks that run (clusters, where there are some): the first and the last of the grid, so many
  // together. The others are taken for done. 0: all; of a cooperative launch always.
  std::uint64_t sample = 0;
  int host_threads = 0;  // 0: as many as the machine has; 1 where order must be exact
  // How long a launch stands still before that is a finding when it looks at managed, pinned or
  // registered memory and another host thread, or for registered memory another process, may write
  // there.
  std::chrono::milliseconds host_patience{10'000};
  std::uint64_t instruction_limit =
      0;               // warp instructions a block may run before kTimeLimit; 0: none
  bool count = false;  // fill Outcome::counters' memory counters (instructions are always counted)
  std::vector<std::uint8_t>* ran =
      nullptr;  // one for each of Program::ops: kReached where some lane has come to it, and
                // kExecuted if its guard was true
  Coverage* coverage =
      nullptr;  // of the kernel's module: where what its threads execute is counted
  TimeProfile* time_profile = nullptr;         // where the time of host threads is added
  std::span<const RunningGrid> running_grids;  // none: every launch before this one has ended
  // Where the launch stands among the operations of the program. By default after all before it and
  // before all after it.
  OperationPlace place;
  // What the launching thread of an earlier launch has handed on to this one. nullptr: nothing.
  std::shared_ptr<const check::Knowledge> given;
  std::uint64_t given_times = 0;  // with it, check::Given
  // Whether the device can launch a grid that a thread has asked for, whose parameters are not
  // there yet. Called by one host thread at a time; empty: it can.
  std::function<bool(const DeviceLaunch&)> launchable;
  // Copies, fills, allocations and frees before this launch that nothing orders before it.
  std::span<const ConcurrentAccess> concurrent;
  const memory::Images* images = nullptr;  // texture and surface objects; nullptr: there are none
  std::function<void(std::string_view)> output;  // device printf; default: stdout
  std::function<void(std::string_view)> notice;  // called with a sentence: the kernel has been
                                                 // running for a minute, for two, four ...
};

// A kernel stored into [begin, begin + bytes) of global memory what nobody had written: no mistake
// yet, but one when somebody reads it.
struct UnwrittenStore {
  memory::Address begin = 0;
  std::uint64_t bytes = 0;
  check::Finding by;  // the finding to be, as far as the store knows it
};

// Memory that a kernel has allocated with malloc(), and may since have freed. Kept when
// check::kLeaks is among the launch's checks.
struct HeapAllocation {
  memory::Address address = 0;
  check::Finding by;  // the finding to be, as far as the kernel knows it
};

struct Outcome {
  std::vector<check::Finding> findings;  // at most one a place (check::same_place); the first ends
                                         // the launch unless it is information or was survived
  Counters counters;
  std::vector<UnwrittenStore>
      unwritten_stores;  // by address; of each instruction the first kMaxUnwrittenStores stretches
  static constexpr std::size_t kMaxUnwrittenStores = 1024;
  std::vector<HeapAllocation> heap;
  // By block, and those of a block as they were made; all as they were made where an event orders
  // two blocks' launches.
  std::vector<DeviceLaunch> launches;
  // For grids that depend on this one: its records, whether it let them start before its end, and
  // whether some block waited for the grids before, and did so before it let the dependents start.
  std::uint32_t first_record = 0, end_of_records = 0;
  bool started_dependents = false, waited = false, waited_before_start = false;
  // A thread has written, by a strong write or behind a fence, to memory that the host sees: the
  // host may have learnt of what the kernel did.
  bool informed_host = false;
  // A thread has read, by a strong read, memory that the host sees, since the launch last went on:
  // it may have learnt of what the host had waited for then.
  bool heard_host = false;
  bool failed() const {
    for (const auto& f : findings)
      if (f.severity == check::Severity::kError && !f.survived) return true;
    return false;
  }
};

// Runs the whole grid before it returns. The caller has checked the configuration against the
// device's limits, and that the kernel can be launched: throws std::invalid_argument where it is
// refused.
Outcome launch(const Kernel& kernel, const LaunchConfig& config, memory::DeviceMemory& memory);

}  // namespace lockstep::engine
