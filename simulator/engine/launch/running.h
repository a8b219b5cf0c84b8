// A launch that is under way: it can be put aside while it waits, and go on later.
//
//   Running running(kernel, config, memory);
//   while (running.advance() == Running::State::kStill) {
//     ... something else changes memory: another launch, a copy, the host ...
//   }
//   const Outcome outcome = running.finish();
//
// Several launches on one memory may be under way. One runs at a time: advance(), fail() and
// finish() of all of them are called by turns. Blocks of the launch that advances use as many host
// threads as its config allows; none runs between the calls.
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
    kDone,   // every block has ended, or a finding has ended the launch
    kStill,  // nothing in the launch changes anything any more, unless memory changes from outside
    kSliced  // the budget is used up
  };

  // Begins the launch; no block runs yet. Keeps copies of what the spans of `config` name. What it
  // points to (ran, coverage, images), the kernel's module and the memory must outlive the launch;
  // the module's code must not be exchanged. Each launch needs a `ran` of its own; launches of one
  // module may share `coverage`. `place` must order it neither before nor after others under way.
  // Throws std::invalid_argument where the kernel is refused, or the cluster does not divide the
  // grid.
  Running(const Kernel& kernel, LaunchConfig config, memory::DeviceMemory& memory);
  // A launch that has not ended is given up: its blocks stop where they are.
  ~Running();
  Running(Running&&) = delete;

  // Runs blocks until the launch is done or still; or, with a budget, until some host thread has
  // executed so many warp instructions, or some more. Threads that poll memory read it again.
  State advance(std::uint64_t budget = 0);

  // What follows is of a launch that is still.

  // Whether threads look at memory that the host sees, and another thread of the host, or, for
  // registered memory, another process, may have written there since. False only if no other thread
  // was there when the last advance() began; of the first advance() that is not known.
  bool host_may_help() const;
  // Whether it may have informed the host so far of what it did (Outcome::informed_host).
  bool informed_host() const;
  // Another operation has been executed that nothing orders with the launch: what the launch
  // accesses from here on is compared with it, too (LaunchConfig::concurrent).
  void also_concurrent(ConcurrentAccess access);
  // The launch goes on, and the host has waited for what this covers (OperationPlace::host).
  void host_knows(std::span<const std::uint32_t> clock);
  // Whether it may have learnt of that since (Outcome::heard_host).
  bool heard_host() const;
  // The launch may have learnt of all operations that this covers, by lane.
  void also_known(std::span<const std::uint32_t> clock);
  // Counts what the launch has changed so far: while it is the same, the launch got nowhere.
  std::uint64_t changes() const;
  // The finding that fail() would report: who waits where, and for what.
  check::Finding why_still() const;
  // Nobody will change what it waits for: reports that, with `note` behind the details, and ends
  // the launch. `host_waits`: the host waits for it, so that memory which the host sees will not
  // change either: a deadlock.
  void fail(const std::string& note = "", bool host_waits = false);

  // The outcome of a launch that is done. To be called once.
  Outcome finish();

 private:
  struct OwnConfig;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lockstep::engine
