// Launches that repeat an earlier launch: the same kernel, configuration and parameters, on the
// same contents of memory. Programs that measure a kernel launch it many times like this.
//
// Nothing can race with a closed launch (work/closed.h). If its kernel also depends on memory alone
// (engine/launch/repeatable.h) and it has no error, it has one outcome, whichever of the two
// launches is executed. So the later one is not executed: memory becomes what the earlier launch
// left, and its counters are added again. Its races that do no harm, such as two writes of one
// value, are reported again. With several host threads a kernel whose atomics depend on the order
// of its blocks has several valid outcomes; a repetition gets that of the earlier launch.
//
// A launch that was checked for unwritten bytes and has no error did not depend on them. So an
// allocation that was fresh, without a written byte, may differ later. If the launch left it fresh,
// it may be in any state. Otherwise it may be as the launch left it: the launch would write the
// same bytes once more.
//
// Digests of memory (digests.h) decide whether its contents are the same. They cost time, so
// launches are recorded only as long as this takes little time beside what launches take and what
// repetitions have saved (budget.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/repeats/budget.h"
#include "simulator/runtime/repeats/digests.h"

namespace lockstep::runtime {

class Repeats {
 public:
  enum class Mode : std::uint8_t {
    kOff,      // every launch is executed
    kOn,       // repetitions are not executed, where looking for them pays
    kAlways,   // looked for at each launch, whatever it costs
    kCompare,  // as kAlways, but repetitions are executed and compared with the earlier launch; a
               // difference ends the process
  };
  explicit Repeats(Mode mode = Mode::kOff) : mode_(mode) {}
  Mode mode() const { return mode_; }

  // A launch that is executed.
  struct Attempt {
    Digest launch;
    std::optional<MemoryState> before;  // nullopt: it is not recorded
    std::chrono::steady_clock::time_point since;
  };
  struct Begun {
    std::optional<engine::Outcome> outcome;  // of a repetition, which is over
    Attempt attempt;                         // otherwise: for ended()
  };

  // Call before a launch begins. Calls LaunchConfig::closed, which may take long, only if it looks
  // for repetitions.
  Begun begin(const engine::Kernel& kernel, const engine::LaunchConfig& config, int device,
              memory::DeviceMemory& memory);
  // Call after the launch has been executed. `waited`: it has waited for memory to change. Returns
  // whether it was compared with an earlier launch (kCompare).
  bool ended(const Attempt& attempt, const engine::Kernel& kernel, const engine::Outcome& outcome,
             bool waited, memory::DeviceMemory& memory);

  // Call after anything but a repetition may have changed these bytes of memory, or any bytes.
  void wrote(const memory::Box& box) { digests_.wrote(box); }
  void wrote() { digests_.wrote(); }
  // Call when kernels are unloaded, or objects that kernels use are destroyed.
  void forget();

  // The number of launches that were repetitions.
  std::uint64_t count() const { return count_; }

 private:
  // The contents of an allocation, and its part of the written-shadow.
  struct Saved {
    memory::Address base = 0;
    std::vector<std::byte> contents, written;
  };
  struct Record {
    Digest launch;
    MemoryState before, after;
    std::vector<check::Finding> findings;
    engine::Counters counters;
    double seconds = 0;        // that its execution took
    bool came_again = false;   // another launch has fitted
    std::vector<Saved> saved;  // the allocations that it has changed; may be empty

    // Whether the launch neither depends on allocation `i` nor changes it.
    bool does_not_matter(std::size_t i) const;
    // Whether the launch would have the same outcome in this state.
    bool fits(const MemoryState& state) const;
    // Those of the launch's allocations that differ from the state after it, as they are then.
    std::vector<Piece> differing(const MemoryState& state) const;
    std::uint64_t saved_bytes() const;
  };
  struct KnownKernel {
    bool is_repeatable = false;
    double seconds = 0;  // of its latest execution; 0: there was none
    int in_vain = 0;     // launches that were recorded since its last repetition
  };
  using Records = std::list<Record>;  // the latest first

  Begun find_or_attempt(KnownKernel& known, const engine::Kernel& kernel,
                        const engine::LaunchConfig& config, int device,
                        memory::DeviceMemory& memory);
  bool record(const Attempt& attempt, const engine::Kernel& kernel, const engine::Outcome& outcome,
              double seconds, memory::DeviceMemory& memory);
  bool is_affordable(const KnownKernel& kernel, double seconds) const;
  const MemoryState* look(const KnownKernel& kernel, memory::DeviceMemory& memory, int times);
  Records::iterator find(const Digest& launch, const MemoryState& state);
  void add(Record record);
  void drop(Records::iterator record);
  void save(const KnownKernel& kernel, Record& record, memory::DeviceMemory& memory);
  void restore(const Record& record, const std::vector<Piece>& pieces,
               memory::DeviceMemory& memory);

  Mode mode_;
  MemoryDigests digests_;
  Records records_;
  std::multimap<Digest, Records::iterator> by_launch_;
  std::unordered_map<const engine::Kernel*, KnownKernel> kernels_;
  std::uint64_t count_ = 0;
  RepeatsBudget budget_;
};

}  // namespace lockstep::runtime
