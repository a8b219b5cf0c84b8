// A launch of a mutant beside the same launch unchanged: does it leave anything else?
//
// A program can see these effects of a launch: the contents of memory, which bytes count as
// written, printed text, findings and, if it asks, counters. If all of them are equal, here and in
// earlier launches, the mutant cannot change the program's course. It need not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

// All memory that a kernel can reach, as it was.
class MemoryImage {
 public:
  // False, when there is more than `most` bytes of it.
  bool take(const memory::DeviceMemory& memory, std::uint64_t most);
  bool equals(const memory::DeviceMemory& memory) const;
  // Of memory whose allocations are those of the image.
  void put_back(const memory::DeviceMemory& memory) const;
  // Gives back room that only few launches need.
  void forget();

 private:
  struct Piece {
    const memory::Allocation* allocation;
    std::size_t bytes, shadow;  // where they begin in contents_
    std::size_t shadow_bytes;
  };
  std::vector<Piece> pieces_;
  std::vector<std::byte> contents_;
};

class Trial {
 public:
  // Runs the launch unchanged, and notes what it leaves. False where there is no comparing: too
  // much memory, device code that may allocate or free some, findings, grids that still run. Memory
  // is as it was in either case.
  bool begin(const engine::Kernel& kernel, const engine::LaunchConfig& config,
             memory::DeviceMemory& memory);
  // Of the launch unchanged (LaunchConfig::ran). Only after begin() was true.
  const std::vector<std::uint8_t>& ran() const { return ran_; }
  // And how many warp instructions that took.
  std::uint64_t instructions() const { return unchanged_.outcome.counters.warp_instructions; }
  // Runs the launch with the kernel as it now is: whether it left the same. `counters`: these count
  // too. Memory is as it was.
  bool leaves_the_same(bool counters);

 private:
  struct Left {
    engine::Outcome outcome;
    std::string printed;
    bool failed = false;  // by an exception
  };
  Left run(std::uint64_t instruction_limit);

  const engine::Kernel* kernel_ = nullptr;
  engine::LaunchConfig config_;
  memory::DeviceMemory* memory_ = nullptr;
  std::vector<std::uint8_t> ran_;
  MemoryImage before_, after_;
  Left unchanged_;
  std::uint64_t instruction_limit_ = 0;
};

}  // namespace lockstep::runtime
