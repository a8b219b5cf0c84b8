// The translated functions of one program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/program/program.h"
#include "simulator/translate/function.h"
#include "simulator/translate/machine_code.h"

namespace lockstep::translate {

struct Left {
  std::uint64_t place;  // of the next operation, and the lanes that come there
  std::uint64_t ended;  // 4 * operations executed + Why
  std::uint32_t pc() const { return static_cast<std::uint32_t>(place); }
  program::LaneMask mask() const { return static_cast<program::LaneMask>(place >> 32); }
  // By these lanes; what others have executed the engine has counted (Splits).
  std::uint64_t executed() const { return ended >> 2; }
  Why why() const { return static_cast<Why>(ended & 3); }
};

// Runs a warp in its current frame. `at`: Translation::at, for the same kind of lanes. The rest is
// for some lanes alone: which these are, and the operation at which another split waits (at or
// behind all others: none does).
using Enter = Left (*)(engine::Warp& warp, std::byte* file, const std::byte* constants,
                       const void* at, program::LaneMask mask, std::uint32_t limit);

// Whether the operation becomes part of a run. The others are calls of their handlers, branches, or
// the interpreter's.
bool is_translated(const program::Program& program, std::uint32_t pc);

class Translation {
 public:
  // The program must outlive it, and its operations must stay where they are.
  Translation(const program::Program& program, const WarpLayout& layout, const Watch& watch,
              const Answers& answers);

  // Translates a kernel and the functions that it may call directly or through others. What cannot
  // be translated, for want of memory, stays with the interpreter. Thread-safe; a kernel is
  // translated once.
  void add(const program::Function& kernel);
  // The machine code at an operation; nullptr: the interpreter executes it.
  const void* at(std::uint32_t pc, Lanes lanes) const {
    return of(lanes).entries[pc].load(std::memory_order_relaxed);
  }
  Enter enter(Lanes lanes) const { return of(lanes).enter; }
  // Whether code for some lanes stops where another split waits at this operation.
  bool stops_at(std::uint32_t pc) const {
    return pc < stops_.size() && stops_[pc].load(std::memory_order_relaxed);
  }
  std::size_t bytes() const;  // of machine code, in whole pages

 private:
  struct OfLanes {
    explicit OfLanes(Lanes lanes, std::size_t operations);
    MachineCode enter_code;
    Enter enter;
    std::vector<std::atomic<const void*>> entries;  // by operation
  };
  void add_function(std::size_t index, Lanes lanes);
  const OfLanes& of(Lanes lanes) const { return lanes == Lanes::kAll ? all_ : some_; }

  const program::Program& program_;
  const WarpLayout layout_;
  const Watch watch_;
  const Answers answers_;
  mutable std::mutex mutex_;
  OfLanes all_, some_;
  std::vector<bool> translated_;  // by function
  std::vector<MachineCode> code_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::unique_ptr<Window>> windows_;
  std::vector<std::atomic<bool>> stops_;  // by operation
};

}  // namespace lockstep::translate
