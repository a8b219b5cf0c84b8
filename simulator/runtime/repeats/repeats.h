// Launches that repeat an earlier launch: the same kernel, configuration and parameters, on the
// same contents of memory. Programs that measure a kernel launch it many times like this.
//
// A launch that nothing can race with (work/closed.h), whose kernel depends on memory alone
// (engine/launch/repeatable.h) and that has no findings has one outcome, whichever of the two
// launches is executed. So the later one is not executed: memory becomes what the earlier launch
// has left, and its counters count again. With several host threads a kernel whose atomics depend
// on the order of its blocks has several valid outcomes; a repetition gets that of the earlier
// launch.
//
// Digests of memory (digests.h) decide whether its contents are the same. They cost time, so each
// launch is recorded only as long as this takes little time beside what launches take and what
// repetitions have saved.
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
  Mode mode = Mode::kOff;

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

  // Call before a launch begins that is closed. The image objects are those of the runtime.
  Begun begin(const engine::Kernel& kernel, const engine::LaunchConfig& config, int device,
              memory::DeviceMemory& memory);
  // Call after the launch has been executed. `waited`: it has waited for memory to change.
  void ended(const Attempt& attempt, const engine::Kernel& kernel, const engine::Outcome& outcome,
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
    Digest launch, before, after;
    std::vector<Piece> changed;  // the allocations that the launch has changed, as it left them
    engine::Counters counters;
    double seconds = 0;  // that its execution took
    std::vector<Saved> saved;  // `changed`, once the launch has been executed twice
  };
  using Records = std::list<Record>;  // the latest first
  using Key = std::pair<Digest, Digest>;

  bool is_affordable(double seconds) const;
  const MemoryState* look(memory::DeviceMemory& memory);
  Records::iterator find(const Key& key);
  void add(Record record);
  void drop(Records::iterator record);
  bool save(Record& record, memory::DeviceMemory& memory);
  void restore(const Record& record, memory::DeviceMemory& memory);
  bool is_repeatable(const engine::Kernel& kernel);

  MemoryDigests digests_;
  Records records_;
  std::map<Key, Records::iterator> by_key_;
  std::unordered_map<const engine::Kernel*, bool> repeatable_;
  std::uint64_t saved_bytes_ = 0;
  std::uint64_t count_ = 0;
  // Seconds: of executed launches, of digests and copies, and of repetitions if they were executed.
  double executed_ = 0, spent_ = 0, gained_ = 0;
};

}  // namespace lockstep::runtime
