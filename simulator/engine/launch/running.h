// A launch that is under way: it can be suspended while it waits, and continued later.
//
//   Running running(kernel, config, memory);
//   while (running.advance() == Running::State::kStill) {
//     ... something else changes memory: another launch, a copy, the host ...
//   }
//   const Outcome outcome = running.finish();
//
// Several launches on one memory may be under way, but only one runs at a time: the caller must not
// overlap their calls of advance(), fail() and finish(). advance() runs blocks on as many host
// threads as the config allows. No block runs between calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "simulator/check/finding.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

class Running {
 public:
  enum class State : std::uint8_t {
    kDone,   // all blocks have ended, or a finding has ended the launch
    kStill,  // nothing in the launch can change any more unless memory changes from outside
    kSliced  // the budget is used up, and the launch may have changed memory
  };

  // Starts the launch without running a block. Copies what the spans of `config` refer to. Objects
  // that `config` points to (ran, coverage, images), the kernel's module and the memory must
  // outlive the launch, and the module's code must not be replaced. Each launch needs a `ran` of
  // its own; launches of one module may share `coverage`. `place` must not order it before or after
  // other launches under way. Throws std::invalid_argument if the kernel is refused, or if the
  // cluster size does not divide the grid.
  Running(const Kernel& kernel, LaunchConfig config, memory::DeviceMemory& memory);
  // Abandons a launch that has not ended: its blocks stop where they are.
  ~Running();
  Running(Running&&) = delete;

  // Runs blocks until the launch is kDone or kStill. With a `budget`, also until some host thread
  // has executed about so many warp instructions and has changed something meanwhile: a launch that
  // changes nothing is kStill in time. Threads that poll memory read it again.
  State advance(std::uint64_t budget = 0);

  // The following functions are for a launch that is kStill or kSliced.

  // Whether the launch may have informed the host so far (Outcome::informed_host).
  bool informed_host() const;
  // Whether a warp has looked often at memory, by strong reads or atomics.
  bool polls() const;
  // Of a launch that polls: whether a thread has read host-visible memory by a strong read, so that
  // the launch may wait for the host.
  bool reads_host_flags() const;
  // Adds an operation that has been executed and is unordered with the launch. The launch's later
  // accesses are compared with it, too (LaunchConfig::concurrent).
  void also_concurrent(ConcurrentAccess access);
  // Call before the launch continues: the host has waited for the operations in `clock`
  // (OperationPlace::host).
  void host_knows(std::span<const std::uint32_t> clock);
  // Whether the launch may have learnt of these operations since (Outcome::heard_host).
  bool heard_host() const;
  // The launch may have learnt of all operations in `clock`, by lane.
  void also_known(std::span<const std::uint32_t> clock);
  // A count of the changes that the launch has made. While it stays the same, the launch makes no
  // progress.
  std::uint64_t changes() const;

  // The following functions are for a launch that is kStill.

  // Whether threads poll memory that the host sees, and another host thread (for registered memory:
  // another process) may have written there since. Returns false only if no other thread existed
  // when the last advance() started. At the first advance() this is not known.
  bool host_may_help() const;
  // The finding that fail() would report: which threads wait, where, and for what.
  check::Finding why_still() const;
  // Ends the launch with a finding, because nobody will change what it waits for. `note` follows
  // the details. `host_waits`: the host waits for the launch, so host-visible memory will not
  // change either: a deadlock.
  void fail(const std::string& note = "", bool host_waits = false);

  // The outcome of a launch that is kDone. Call once.
  Outcome finish();

 private:
  struct OwnConfig;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lockstep::engine
