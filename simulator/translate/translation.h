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

// Why translated code was left.
enum class Why : std::uint8_t {
  kInterpret,  // the next operation is the interpreter's
  kEvent,      // a handler asks for the scheduler's attention: the warp's event, and its pc
  kSliceOver,  // the time slice is used up, at a backward branch
};

struct Left {
  std::uint64_t pc;     // of the next operation
  std::uint64_t ended;  // 4 * operations executed + Why
  std::uint64_t executed() const { return ended >> 2; }
  Why why() const { return static_cast<Why>(ended & 3); }
};

// Runs a warp, all of whose lanes are active, in its current frame. `at`: Translation::at.
using Enter = Left (*)(engine::Warp& warp, std::byte* file, const std::byte* constants,
                       const void* at);

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
  const void* at(std::uint32_t pc) const { return entries_[pc].load(std::memory_order_relaxed); }
  Enter enter() const { return enter_; }
  std::size_t bytes() const;  // of machine code, in whole pages

 private:
  void add_function(std::size_t index);

  const program::Program& program_;
  const WarpLayout layout_;
  const Watch watch_;
  const Answers answers_;
  mutable std::mutex mutex_;
  MachineCode enter_code_;
  Enter enter_ = nullptr;
  std::vector<bool> translated_;  // by function
  std::vector<MachineCode> code_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::unique_ptr<Window>> windows_;
  std::vector<std::atomic<const void*>> entries_;  // by operation
};

}  // namespace lockstep::translate
